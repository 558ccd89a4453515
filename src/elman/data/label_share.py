"""A share of the labelled documents, as if the others had never been labelled."""

import math

import numpy as np
import numpy.typing as npt

from elman.data.sequences import EncodedDocuments
from elman.seeding import generator


def share_rows(labels: npt.NDArray[np.integer], *, fraction: float, seed: int) -> npt.NDArray[np.int64]:
    """The rows of the same share of each class, in their order, and at least one of each.

    Which rows these are is a function of the labels, their order and the seed, and of no cell. A smaller share lies in
    a larger one.

    Args:
        labels: int (N,). The class of each document.
        fraction: Above 0, at most 1.
        seed: Names the draw.

    Returns:
        int64 (rows,), ascending.

    Example:
        >>> rows = share_rows(np.array([0] * 8 + [1] * 2), fraction=0.5, seed=1)
        >>> int((rows < 8).sum()), int((rows >= 8).sum())
        (4, 1)
    """
    rows = []
    for label in np.unique(labels):
        of_class = np.flatnonzero(labels == label)
        wanted = max(1, math.floor(fraction * len(of_class) + 0.5))
        rows.append(generator(seed, "label_share", int(label)).permutation(of_class)[:wanted])
    return np.sort(np.concatenate(rows))


def labelled_share(documents: EncodedDocuments, *, fraction: float, seed: int) -> EncodedDocuments:
    """The documents of `share_rows`; all of them, as they are, where the fraction is 1."""
    if fraction == 1.0:
        return documents
    rows = share_rows(documents.labels, fraction=fraction, seed=seed)
    kept = np.zeros(len(documents), bool)
    kept[rows] = True
    lengths = documents.lengths
    return EncodedDocuments(
        token_ids=documents.token_ids[np.repeat(kept, lengths)],
        offsets=np.concatenate([[0], np.cumsum(lengths[rows])]).astype(np.int64),
        ids=documents.ids[rows],
        labels=documents.labels[rows],
        num_words=documents.num_words[rows],
        num_bytes=documents.num_bytes[rows],
    )
