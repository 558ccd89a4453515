"""Made-up scores.parquet files of both tasks."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from elman.artifacts import write_json


def write_scores(folder: Path, columns: dict[str, Any], *, seeds: tuple[int, ...] = (1,), metrics: bool = True) -> Path:
    """Writes a report folder; a column of one dimension is the same for all seeds."""
    folder.mkdir(parents=True, exist_ok=True)
    size = len(columns["id"])
    table = {name: np.broadcast_to(values, (len(seeds), size)).ravel() for name, values in columns.items()}
    pq.write_table(pa.table({"seed": np.repeat(np.array(seeds, np.int32), size), **table}), folder / "scores.parquet")
    if metrics:
        write_json(folder / "metrics.json", {"version": 1, "seeds": list(seeds)})
    return folder


def classifier_scores(right: np.ndarray, *, classes: int = 4) -> dict[str, Any]:
    """Columns of a classifier that is right where `right` (N,) or (S, N) says so."""
    ids = np.arange(right.shape[-1])
    labels = ids % classes
    predicted = np.where(right, labels, (labels + 1) % max(classes, 2))
    probability = np.where(right, 0.9, 0.6).astype(np.float32)
    return {
        "id": ids, "label": labels, "predicted": predicted, "probability": probability,
        "nll_nats": np.where(right, 0.1, 2.0),
    }  # fmt: skip


def language_model_scores(nll_per_token: np.ndarray, *, tokens_a_word: int = 2) -> dict[str, Any]:
    """Columns of a language model with these nats a token, (N,) or (S, N)."""
    ids = np.arange(nll_per_token.shape[-1])
    words = 5 + ids % 7
    tokens = words * tokens_a_word
    return {
        "id": ids, "nll_nats": nll_per_token * 2.0 * words, "num_tokens": tokens, "num_words": words,
        "num_bytes": words.astype(np.int64) * 6,
    }  # fmt: skip
