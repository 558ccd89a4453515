"""Documents of valid and test that stand in train with small changes; they are counted, not removed.

Two documents are near duplicates where the Jaccard similarity of their sets of word 5-grams is at least 0.8
(`lee2022deduplicating` finds its candidates by 5-grams too):

    J(A, B) = |A and B| / |A or B|,  A and B the sets of 5-grams of the two folded documents

Sets are compared by bottom-k sketches (`broder1997resemblance`): of each document the k smallest hashes of its 5-grams.
A document of up to k 5-grams is its own sketch, so that the comparison is exact; of a longer one it is an estimate with
a standard error of about sqrt(J (1 - J) / k), 0.035 at the threshold.

Memory is bounded: at most 20,000 documents of each evaluation split are checked (every n-th), and a 5-gram leads to at
most 50 of them. Where a passage stands in more, the count is a lower bound.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from elman.artifacts import read_batches
from elman.data.duplicates import fold

GRAM = 5  # words
THRESHOLD = 0.8  # Jaccard similarity
SKETCH = 128  # hashes a document, k
MAX_CHECKED = 20_000  # documents of an evaluation split
_MAX_POSTINGS = 50  # documents that one 5-gram leads to
_MAX_BYTES = 1 << 20  # of a document; what is beyond is not compared
_BATCH_BYTES = 1 << 18  # of documents worked on together: arrays of 8 bytes for each should stay in the cache
_BATCH_ROWS = 512  # at most, since a document's number takes the upper 9 bits of a sort key
_HASH_BITS = 55
_FILTER_BITS = 24  # of a table that tells for most hashes that they are in no checked document
_FILTER_SHIFT = np.uint64(_HASH_BITS - _FILTER_BITS)

Hashes = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

_BASE = 0x9E3779B97F4A7C15  # odd, so that it can be divided by modulo 2^64


class Sketches(NamedTuple):
    """Bottom-k sketches of some documents, one after the other and sorted inside each."""

    documents: Indices  # (hashes,): the document of each hash
    hashes: Hashes  # (hashes,)
    starts: Indices  # (documents + 1,): document d has hashes[starts[d]:starts[d + 1]]

    def of(self, document: int) -> Hashes:
        """The sketch of one document."""
        return self.hashes[self.starts[document] : self.starts[document + 1]]


class Sketcher:
    """Makes sketches; holds the tables of powers that hashing needs."""

    def __init__(self) -> None:
        size = _MAX_BYTES + _BATCH_BYTES + _BATCH_ROWS
        self._powers = np.cumprod(np.full(size, _BASE, dtype=np.uint64))
        self._inverses = np.cumprod(np.full(size, pow(_BASE, -1, 1 << 64), dtype=np.uint64))

    def sketches(self, texts: list[bytes]) -> Sketches:
        """The sketches of up to 512 documents; one of fewer than 5 words has an empty sketch.

        The hash of the bytes from i to j is the difference of two prefix sums, without a loop over words:

            h(i, j) = B^-i * sum over n = i..j of byte_n B^n   (mod 2^64)

        Args:
            texts: Folded documents in UTF-8.
        """
        buffer = np.frombuffer(b"\n".join([*texts, b""]), dtype=np.uint8)
        blank = buffer <= 0x20
        lengths = np.array([len(text) + 1 for text in texts], dtype=np.int64)
        edges = np.diff(blank.astype(np.int8), prepend=1)
        starts, ends = np.flatnonzero(edges == -1), np.flatnonzero((edges == 1) & (np.arange(len(edges)) > 0))
        owner = np.searchsorted(np.cumsum(lengths), starts, side="right")
        sums = np.cumsum(buffer * self._powers[: len(buffer)])
        first = np.arange(max(len(starts) - GRAM + 1, 0))
        first = first[owner[first] == owner[first + GRAM - 1]]
        begin, last = starts[first], ends[first + GRAM - 1] - 1
        before = np.where(begin > 0, sums[begin - 1], np.uint64(0))
        grams = _mixed((sums[last] - before) * self._inverses[begin])
        return _smallest(owner[first], grams, num_documents=len(texts))


def _mixed(values: Hashes) -> Hashes:
    """Spreads the information of each value over all of its bits, as splitmix64 does at its end."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _smallest(documents: Indices, grams: Hashes, *, num_documents: int) -> Sketches:
    """Of each document the k smallest different hashes, by one sort over (document, hash) in a single number."""
    bits = np.uint64(_HASH_BITS)
    keys = np.sort((documents.astype(np.uint64) << bits) | (grams >> np.uint64(64 - _HASH_BITS)))
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]  # NumPy's own unique is slower here
    owner = (keys >> bits).astype(np.int64)
    starts = np.searchsorted(owner, np.arange(num_documents + 1))
    kept = np.arange(len(keys)) - starts[owner] < SKETCH
    hashes = keys[kept] & np.uint64((1 << _HASH_BITS) - 1)
    return Sketches(owner[kept], hashes, np.searchsorted(owner[kept], np.arange(num_documents + 1)))


def similarity(first: Hashes, second: Hashes) -> float:
    """The Jaccard similarity of two documents from their sketches; exact where neither has more than k 5-grams."""
    full = [sketch[-1] for sketch in (first, second) if len(sketch) == SKETCH]
    if full:  # beyond the end of a full sketch nothing is known of that document
        first, second = first[first <= min(full)], second[second <= min(full)]
    common = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - common
    return common / union if union else 0.0


class _Index:
    """The checked documents, findable by the hashes of their sketches."""

    def __init__(self, checked: Sketches) -> None:
        self._checked = checked
        order = np.argsort(checked.hashes, kind="stable")
        ordered = checked.hashes[order]
        first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
        self._documents = checked.documents[order]
        self._hashes = ordered[first]
        self._first = np.flatnonzero(first)
        self._number = np.minimum(np.diff(np.append(self._first, len(ordered))), _MAX_POSTINGS)
        self._filter = np.zeros(1 << _FILTER_BITS, dtype=bool)
        self._filter[self._hashes >> _FILTER_SHIFT] = True
        self.found = np.zeros(len(checked.starts) - 1, dtype=bool)  # documents with a near duplicate

    def compare(self, train: Sketches) -> None:
        """Marks the checked documents that are near duplicates of one of these train documents."""
        learned, place = self._shared(train)
        number = self._number[place]
        step = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        checked = self._documents[np.repeat(self._first[place], number) + step]
        learned = np.repeat(learned, number)
        still = ~self.found[checked]
        pairs, common = np.unique(learned[still] * len(self.found) + checked[still], return_counts=True)
        learned, checked = np.divmod(pairs, max(len(self.found), 1))
        sizes = np.diff(train.starts)[learned], np.diff(self._checked.starts)[checked]
        likely = common >= THRESHOLD * np.maximum(*sizes)  # no pair below can reach the threshold
        for one, other in zip(learned[likely].tolist(), checked[likely].tolist(), strict=True):
            if not self.found[other] and similarity(train.of(one), self._checked.of(other)) >= THRESHOLD:
                self.found[other] = True

    def _shared(self, train: Sketches) -> tuple[Indices, Indices]:
        """Train documents, and where in the index each hash stands that they share with a checked document."""
        likely = self._filter[train.hashes >> _FILTER_SHIFT]  # most hashes end here, without a search
        documents, hashes = train.documents[likely], train.hashes[likely]
        place = np.minimum(np.searchsorted(self._hashes, hashes), max(len(self._hashes) - 1, 0))
        hit = self._hashes[place] == hashes if len(self._hashes) else np.zeros(len(hashes), dtype=bool)
        return documents[hit], place[hit]


def count_near_duplicates(train: Path, evaluation: dict[str, Path]) -> dict[str, dict[str, int]]:
    """For each evaluation split: how many documents were checked, and how many of them stand in train nearly so.

    Args:
        train: The prepared table of the train split.
        evaluation: Prepared tables, keyed by split.
    """
    sketcher = Sketcher()
    parts = {split: list(_checked(path, sketcher)) for split, path in evaluation.items()}
    index = _Index(_joined([part for split in parts.values() for part in split]))
    for texts in _batches(train, step=1):
        index.compare(sketcher.sketches(texts))
    counts, start = {}, 0
    for split, of_split in parts.items():
        end = start + sum(len(part.starts) - 1 for part in of_split)
        counts[split] = {"checked": end - start, "near_duplicates": int(index.found[start:end].sum())}
        start = end
    return counts


def _checked(path: Path, sketcher: Sketcher) -> Iterator[Sketches]:
    """Sketches of every n-th document of a table, with the smallest n that keeps to the bound."""
    with pq.ParquetFile(path) as file:
        step = max(-(-file.metadata.num_rows // MAX_CHECKED), 1)
    for texts in _batches(path, step=step):
        yield sketcher.sketches(texts)


def _joined(parts: list[Sketches]) -> Sketches:
    """The sketches of several batches, with the documents numbered on."""
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(part.starts) for part in parts)])
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *(part.hashes for part in parts)])
    return Sketches(np.repeat(np.arange(len(lengths) - 1), lengths[1:]), hashes, np.cumsum(lengths))


def _batches(path: Path, *, step: int) -> Iterator[list[bytes]]:
    """Every `step`-th document of a table, folded and in UTF-8, in lists of a bounded size."""
    batch: list[bytes] = []
    size = 0
    texts = (text for part in read_batches(path, columns=["text"]) for text in part.column("text").to_pylist())
    for text in islice(texts, 0, None, step):
        document = fold(text, collapsed=True).encode()[:_MAX_BYTES]
        if len(batch) == _BATCH_ROWS or size + len(document) > _BATCH_BYTES:
            if batch:
                yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document)
    if batch:
        yield batch
