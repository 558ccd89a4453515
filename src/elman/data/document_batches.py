"""Documents as padded batches for the classifier: bucketed by length, every document exactly once an epoch.

Order is a function of the seed and the epoch alone. Documents are shuffled, put into pools of `POOL_BATCHES` batches,
sorted by length within a pool and cut into batches, which are then shuffled. So a batch holds documents of about one
length, little is padding, and batches still differ from epoch to epoch.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elman.data.sequences import EncodedDocuments
from elman.data.tokenizer import PAD_ID
from elman.seeding import generator

POOL_BATCHES = 50  # batches sorted together; more means less padding and less random batches


class DocumentBatch(NamedTuple):
    """B documents padded on the right to T steps; T is a bucket boundary and no row is empty.

    Attributes:
        token_ids: int32 (B, T). Each row ends with eos, then pad.
        padding_mask: bool (B, T). True at real tokens.
        labels: int32 (B,).
        ids: int64 (B,). The documents' numbers in their split.
    """

    token_ids: npt.NDArray[np.int32]
    padding_mask: npt.NDArray[np.bool_]
    labels: npt.NDArray[np.int32]
    ids: npt.NDArray[np.int64]


def bucket_length(length: int, *, step: int = 16) -> int:
    """The padded length of a batch whose longest document has `length` tokens.

    Multiples of `step` up to `8 * step`, from there eight boundaries for each doubling: the number of different lengths
    (each of which a compiled step may be compiled for) grows with the logarithm of the longest document.

    Example:
        >>> [bucket_length(n) for n in (1, 16, 17, 128, 129, 257, 600)]
        [16, 16, 32, 128, 144, 288, 640]
    """
    width = step
    while length > 16 * width:
        width *= 2
    return -(-length // width) * width


def training_batches(
    documents: EncodedDocuments, *, batch_size: int, seed: int, epoch: int, step: int = 16
) -> Iterator[DocumentBatch]:
    """All documents once, in an order that is a function of `seed` and `epoch`; the last, smaller batch is kept.

    Args:
        documents: Documents, cut beforehand where they must be (`cut_documents`).
        batch_size: Documents of a batch.
        seed: Names the orders of a run.
        epoch: Number of the epoch.
        step: Width of the buckets in tokens (`bucket_length`).

    Yields:
        `ceil(N / batch_size)` batches.
    """
    random = generator(seed, "document_batches", epoch)
    order = random.permutation(len(documents))
    lengths = documents.lengths
    pool = POOL_BATCHES * batch_size
    batches: list[npt.NDArray[np.int64]] = []
    for start in range(0, len(order), pool):
        rows = order[start : start + pool]
        rows = rows[np.argsort(lengths[rows], kind="stable")]
        batches.extend(rows[first : first + batch_size] for first in range(0, len(rows), batch_size))
    for number in random.permutation(len(batches)):
        yield _batch(documents, batches[number], step=step)


def evaluation_batches(documents: EncodedDocuments, *, batch_size: int, step: int = 16) -> Iterator[DocumentBatch]:
    """All documents once, shortest first; the order is always the same."""
    order = np.argsort(documents.lengths, kind="stable")
    for start in range(0, len(order), batch_size):
        yield _batch(documents, order[start : start + batch_size], step=step)


def padding_fraction(batches: Iterable[DocumentBatch]) -> float:
    """Share of the steps of all batches that are padding."""
    real = total = 0
    for batch in batches:
        real += int(np.count_nonzero(batch.padding_mask))
        total += batch.padding_mask.size
    return 1.0 - real / total if total else 0.0


def _batch(documents: EncodedDocuments, rows: npt.NDArray[np.int64], *, step: int) -> DocumentBatch:
    starts = documents.offsets[rows]  # (B,)
    lengths = documents.offsets[rows + 1] - starts  # (B,)
    steps = np.arange(bucket_length(int(lengths.max()), step=step))  # (T,)
    padding_mask = steps < lengths[:, None]  # (B, T)
    places = np.where(padding_mask, starts[:, None] + steps, 0)  # (B, T)
    token_ids = np.where(padding_mask, documents.token_ids[places], np.int32(PAD_ID))  # (B, T)
    return DocumentBatch(token_ids, padding_mask, documents.labels[rows], documents.ids[rows])
