"""What is timed: sizes and inputs, the same for every library. NumPy only: each library's worker imports this."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

CELLS = ("lstm", "gru", "simple_rnn")
GATES = {"lstm": 4, "gru": 3, "simple_rnn": 1}


class Workload(NamedTuple):
    """One row of the table, for one cell.

    Attributes:
        name: As in results.json.
        task: "classifier", "language_model" or "epoch" (a classifier over all batches of an epoch).
        cell: Which recurrent layer.
        vocab_size: V.
        embedding_dim: D.
        units: U, a direction.
        num_layers: L.
        bidirectional: Whether a second layer reads from the end.
        batch_size: B.
        length: T.
        ragged: Whether the rows have different lengths.
        dropout: Share of features lost at each step, on embedding, between layers and before the output.
        num_classes: C of a classifier.
    """

    name: str
    task: str
    cell: str
    vocab_size: int = 8_000
    embedding_dim: int = 128
    units: int = 128
    num_layers: int = 1
    bidirectional: bool = False
    batch_size: int = 32
    length: int = 128
    ragged: bool = False
    dropout: float = 0.0
    num_classes: int = 8

    def multiply_adds(self, tokens: int, *, training: bool) -> float:
        """Multiply-adds of the matrix products that `tokens` real tokens need; a gradient costs two products more."""
        width, total = self.embedding_dim, 0.0
        directions = 2 if self.bidirectional else 1
        for _ in range(self.num_layers):
            total += directions * GATES[self.cell] * self.units * (width + self.units)
            width = self.units * directions
        if self.task == "language_model":
            total += self.units * self.vocab_size
        return total * tokens * (3 if training else 1)


class Batch(NamedTuple):
    """One batch: token_ids and targets int32 (B, T), lengths int32 (B,), labels int32 (B,)."""

    token_ids: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32]

    @property
    def padding_mask(self) -> npt.NDArray[np.bool_]:
        """Bool (B, T). True at real tokens."""
        return np.arange(self.token_ids.shape[1]) < self.lengths[:, None]


def step_workloads() -> list[Workload]:
    """The rows whose unit is one step."""
    rows = []
    for cell in CELLS:
        rows.append(Workload("classifier-ragged", "classifier", cell, ragged=True))
        rows.append(Workload("classifier-full", "classifier", cell))
        rows.append(Workload("classifier-bidirectional", "classifier", cell, ragged=True, bidirectional=True))
        shape: dict[str, Any] = {"vocab_size": 10_000, "num_layers": 2, "batch_size": 20, "length": 35}
        for units, dropout in ((200, 0.2), (650, 0.5)):
            name = f"lm-2x{units}"
            rows.append(
                Workload(name, "language_model", cell, embedding_dim=units, units=units, dropout=dropout, **shape)
            )
    return rows


def epoch_workloads() -> list[Workload]:
    """The rows whose unit is an epoch of R8; the lengths are the data's own."""
    return [Workload("r8-epoch", "epoch", cell, length=256, ragged=True) for cell in CELLS]


def make_batch(workload: Workload) -> Batch:
    """Inputs drawn by Zipf's law, as words are; ragged lengths evenly from T / 8 to T, at least one of them T."""
    random = np.random.default_rng(5)
    shape = (workload.batch_size, workload.length + 1)
    ranks = np.exp(random.random(shape) * np.log(workload.vocab_size - 4)).astype(np.int32)  # P(rank) ~ 1 / rank
    tokens = (3 + ranks).astype(np.int32)
    lengths = np.full(workload.batch_size, workload.length, np.int32)
    if workload.ragged:
        lengths = random.integers(workload.length // 8, workload.length + 1, workload.batch_size).astype(np.int32)
        lengths[0] = workload.length
    real = np.arange(workload.length) < lengths[:, None]
    labels = random.integers(0, workload.num_classes, workload.batch_size).astype(np.int32)
    return Batch(np.where(real, tokens[:, :-1], 0), np.where(real, tokens[:, 1:], 0), lengths, labels)


def epoch_batches(workload: Workload, encoded: Path) -> list[Batch]:
    """The batches of an epoch of R8 in elman's buckets: batches of documents of about one length, padded to T."""
    from elman.data.document_batches import training_batches
    from elman.data.sequences import cut_documents, read_encoded

    documents = cut_documents(read_encoded(encoded / "train.parquet"), workload.length)
    batches = []
    for batch in training_batches(documents, batch_size=workload.batch_size, seed=1, epoch=0):
        lengths = batch.padding_mask.sum(axis=1).astype(np.int32)
        batches.append(Batch(batch.token_ids, batch.token_ids, lengths, batch.labels))
    return batches
