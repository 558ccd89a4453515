"""Where one cell's language models are surprised on test, beside Kneser-Ney: surprise.json."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.artifacts import write_json
from elman.data.sequences import EncodedDocuments, document_counts, document_sums
from elman.evaluation.document_texts import document_texts
from elman.metrics.surprise import (
    TRAIN_COUNT_BANDS,
    Band,
    most_surprising,
    position_bands,
    surprise_by,
    token_positions,
)

FloatArray = npt.NDArray[np.float64]

_CHARACTERS = 200  # of a document's text


class Surprise(NamedTuple):
    """Nats of every token of test, of the network and of the baseline.

    Attributes:
        network: float64 (tokens,). Mean over seeds.
        kneser_ney: float64 (tokens,).
    """

    network: FloatArray
    kneser_ney: FloatArray


def write_surprise(
    path: Path,
    *,
    cell: str,
    seeds: Sequence[int],
    nats: Surprise,
    test: EncodedDocuments,
    train_counts: npt.NDArray[np.int64],
    prepared: Path,
) -> dict[str, Any]:
    """Adds the surprise up by position in the document and by count in train, and names the worst documents.

    Args:
        path: The surprise.json to write.
        cell: The network's cell.
        seeds: Its seeds.
        nats: Of every token of test.
        test: The encoded documents.
        train_counts: int64 (vocab_size,). How often each token stands in train.
        prepared: test.parquet of the prepare stage, for the text of the worst documents.

    Returns:
        What surprise.json holds.

    Raises:
        ArtifactError: The prepared text is missing, damaged, or lacks a document.
    """
    positions, counts = token_positions(test.lengths), train_counts[test.token_ids]
    surprise = {
        "version": 1,
        "task": "language_model",
        "cell": cell,
        "split": "test",
        "seeds": list(seeds),
        "num_tokens": test.num_tokens,
        "nll_nats": float(nats.network.sum()),
        "by_position": _bands(positions, nats, firsts=position_bands(int(test.lengths.max())), open_end=False),
        "by_train_count": _bands(counts, nats, firsts=TRAIN_COUNT_BANDS, open_end=True),
        "documents": _documents(nats, test, prepared),
    }
    write_json(path, surprise)
    return surprise


def _bands(
    values: npt.NDArray[np.integer], nats: Surprise, *, firsts: Sequence[int], open_end: bool
) -> list[dict[str, Any]]:
    network, kneser_ney = (surprise_by(values, one, firsts=firsts, open_end=open_end) for one in nats)
    return [
        {
            "first": own.first,
            "last": own.last,
            "num_tokens": own.num_tokens,
            **_measures(own, float(nats.network.sum())),
            "kneser_ney": _measures(other, float(nats.kneser_ney.sum())),
        }
        for own, other in zip(network, kneser_ney, strict=True)
    ]


def _measures(band: Band, total: float) -> dict[str, float | None]:
    mean = band.nats_per_token
    return {
        "nats_per_token": mean,
        "bits_per_token": None if mean is None else mean / math.log(2.0),
        "share_of_nll": band.nll_nats / total if total > 0.0 else 0.0,
    }


def _documents(nats: Surprise, test: EncodedDocuments, prepared: Path) -> list[dict[str, Any]]:
    """The documents with the most bits per byte, the worst first, with the beginning of their text."""
    counts = document_counts(test)
    network, kneser_ney = (document_sums(one, test) for one in nats)
    places = most_surprising(network, num_bytes=counts["num_bytes"], num_tokens=counts["num_tokens"])
    texts = document_texts(prepared, {int(test.ids[place]) for place in places}, characters=_CHARACTERS)
    documents = []
    for place in places:
        bits = math.log(2.0) * float(counts["num_bytes"][place])
        documents.append(
            {
                "id": int(test.ids[place]),
                **texts[int(test.ids[place])],
                "num_tokens": int(counts["num_tokens"][place]),
                "bits_per_byte": float(network[place]) / bits,
                "kneser_ney_bits_per_byte": float(kneser_ney[place]) / bits,
            }
        )
    return documents
