"""What the evaluate stage writes for a language model only: its mixtures with Kneser-Ney, and where it is surprised."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.data.sequences import EncodedDocuments
from elman.data.token_counts import count_tokens
from elman.evaluation.inputs import Inputs
from elman.evaluation.language_model import LanguageModelEvaluation
from elman.evaluation.mixture import write_mixture
from elman.evaluation.scores import Evaluation
from elman.evaluation.surprise import Surprise, write_surprise


def write_language_model_tables(
    inputs: Inputs,
    *,
    cell: str,
    seeds: Sequence[int],
    found: Mapping[str, Sequence[Evaluation]],
    splits: Mapping[str, EncodedDocuments],
    kneser_ney: Mapping[str, npt.NDArray[np.float64]],
    vocab_size: int,
) -> dict[str, Any]:
    """Writes mixture.json, mixture/scores.parquet and surprise.json.

    Args:
        inputs: Where to read and write.
        cell: The network's cell.
        seeds: Its seeds.
        found: Each seed's evaluation on "valid" and "test".
        splits: The encoded documents of "valid" and "test".
        kneser_ney: float64 (tokens,), the baseline's log probabilities on "valid" and "test".
        vocab_size: V.

    Returns:
        What mixture.json holds.

    Raises:
        ArtifactError: A table is missing, damaged, or does not fit the encoded documents.
        MetricError: A model's scores are not finite, or a split is empty.
    """
    own = {
        name: [one for one in evaluations if isinstance(one, LanguageModelEvaluation)]
        for name, evaluations in found.items()
    }
    mixture = write_mixture(inputs.out, cell=cell, seeds=seeds, found=own, kneser_ney=kneser_ney, splits=splits)
    network = np.mean([one.token_nll_nats for one in own["test"]], axis=0)  # (tokens,)
    write_surprise(
        inputs.out / "surprise.json",
        cell=cell,
        seeds=seeds,
        nats=Surprise(network, -kneser_ney["test"]),
        test=splits["test"],
        train_counts=count_tokens(inputs.encoded / "train.parquet", vocab_size).tokens,
        prepared=inputs.prepared / "test.parquet",
    )
    return mixture
