"""Each seed's network mixed with the Kneser-Ney baseline: what the network knows that counting n-grams does not."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.artifacts import write_json
from elman.data.sequences import EncodedDocuments
from elman.evaluation.language_model import LanguageModelEvaluation, scored
from elman.evaluation.over_seeds import over_seeds
from elman.evaluation.scores import write_scores
from elman.metrics.mixture import best_weight, mixture_log_probabilities

FloatArray = npt.NDArray[np.float64]


def write_mixture(
    out: Path,
    *,
    cell: str,
    seeds: Sequence[int],
    found: Mapping[str, Sequence[LanguageModelEvaluation]],
    kneser_ney: Mapping[str, FloatArray],
    splits: Mapping[str, EncodedDocuments],
) -> dict[str, Any]:
    """Mixes each seed's model with Kneser-Ney: p = w p_network + (1 - w) p_KN, w chosen on validation for each seed.

    Args:
        out: The cell's folder: mixture.json and mixture/scores.parquet are written there.
        cell: The network's cell.
        seeds: Its seeds.
        found: Each seed's evaluation on "valid" and "test".
        kneser_ney: float64 (tokens,), the baseline's log probabilities on "valid" and "test".
        splits: The encoded documents of "valid" and "test".

    Returns:
        What mixture.json holds: the network's weights, and measures in the form of metrics.json.

    Raises:
        MetricError: A model's scores are not finite, or a split is empty.
    """
    weights = [best_weight(-valid.token_nll_nats, kneser_ney["valid"]) for valid in found["valid"]]
    mixed = {
        name: [
            scored(-mixture_log_probabilities(-one.token_nll_nats, kneser_ney[name], weight=weight), splits[name])
            for one, weight in zip(evaluations, weights, strict=True)
        ]
        for name, evaluations in found.items()
    }
    mixture = {
        "version": 1,
        "task": "language_model",
        "cell": cell,
        "baseline": "kneser_ney",
        "split": "test",
        "seeds": list(seeds),
        "weight": over_seeds([{"weight": weight} for weight in weights])["weight"],
        "measures": over_seeds([one.measures for one in mixed["test"]]),
        "valid_measures": over_seeds([one.measures for one in mixed["valid"]]),
    }
    write_json(out / "mixture.json", mixture)
    write_scores(out / "mixture" / "scores.parquet", seeds, mixed["test"], splits["test"])
    return mixture
