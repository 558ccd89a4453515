"""Documents of valid and test that stand in train with small changes; they are counted, not removed.

Two documents are near duplicates where the Jaccard similarity of their sets of word 5-grams is at least 0.8
(`lee2022dedup` uses the same n and threshold):

    J(A, B) = |A and B| / |A or B|,  A and B the sets of 5-grams of the two folded documents

Sets are compared by bottom-k sketches (`broder1997resemblance`): of each document the k smallest hashes of its 5-grams.
A document of up to k 5-grams is its own sketch, so that the comparison is exact; of a longer one it is an estimate with
a standard error of about sqrt(J (1 - J) / k), 0.05 at the threshold.

Memory is bounded: at most 50,000 documents of each evaluation split are checked (every n-th), and a 5-gram leads to at
most 50 of them. Where a passage stands in more, the count is a lower bound.
"""

import hashlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from elman.artifacts import read_batches
from elman.data.duplicates import fold

GRAM = 5  # words
THRESHOLD = 0.8  # Jaccard similarity
SKETCH = 64  # hashes a document, k
MAX_CHECKED = 50_000  # documents of an evaluation split
_MAX_POSTINGS = 50  # documents that one 5-gram leads to
_BATCH_ROWS = 512
_MAX_WORDS_KNOWN = 1 << 20  # hashes of words that are kept

Hashes = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]


class _WordHashes(dict[str, int]):
    """64-bit hashes of words, each computed once while the table is not full."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MAX_WORDS_KNOWN:
            self.clear()
        value = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        self[word] = value
        return value


class Sketches(NamedTuple):
    """Bottom-k sketches of some documents, one after the other and sorted inside each."""

    documents: Indices  # (hashes,): the document of each hash
    hashes: Hashes  # (hashes,)
    starts: Indices  # (documents + 1,): document d has hashes[starts[d]:starts[d + 1]]

    def of(self, document: int) -> Hashes:
        """The sketch of one document."""
        return self.hashes[self.starts[document] : self.starts[document + 1]]


def sketches(texts: list[str], words: dict[str, int]) -> Sketches:
    """The sketches of documents; one of fewer than 5 words has an empty sketch.

    Args:
        texts: The documents.
        words: Hashes of words; grows.
    """
    split = [fold(text).split() for text in texts]
    lengths = np.array([len(document) for document in split], dtype=np.int64)
    flat = np.fromiter(map(words.__getitem__, chain.from_iterable(split)), dtype=np.uint64, count=int(lengths.sum()))
    num_grams = max(len(flat) - GRAM + 1, 0)
    grams = np.zeros(num_grams, dtype=np.uint64)
    for place in range(GRAM):  # a hash that depends on the words' order; products wrap at 2^64
        grams = grams * np.uint64(0x9E3779B97F4A7C15) + flat[place : place + num_grams]
    grams = (grams ^ (grams >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    grams ^= grams >> np.uint64(32)
    owner = np.repeat(np.arange(len(texts)), lengths)
    inside = owner[:num_grams] == owner[GRAM - 1 :] if num_grams else np.zeros(0, dtype=bool)
    return _smallest(owner[:num_grams][inside], grams[inside], num_documents=len(texts))


def _smallest(documents: Indices, grams: Hashes, *, num_documents: int) -> Sketches:
    """Of each document the k smallest different hashes."""
    order = np.lexsort((grams, documents))
    documents, grams = documents[order], grams[order]
    first = np.ones(len(grams), dtype=bool)
    first[1:] = (documents[1:] != documents[:-1]) | (grams[1:] != grams[:-1])
    documents, grams = documents[first], grams[first]
    starts = np.searchsorted(documents, np.arange(num_documents + 1))
    kept = np.arange(len(grams)) - starts[documents] < SKETCH
    documents, grams = documents[kept], grams[kept]
    return Sketches(documents, grams, np.searchsorted(documents, np.arange(num_documents + 1)))


def similarity(first: Hashes, second: Hashes) -> float:
    """The Jaccard similarity of two documents from their sketches; exact where neither has more than k 5-grams."""
    full = [sketch[-1] for sketch in (first, second) if len(sketch) == SKETCH]
    if full:  # beyond the end of a full sketch nothing is known of that document
        first, second = first[first <= min(full)], second[second <= min(full)]
    common = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - common
    return common / union if union else 0.0


class _Index:
    """The checked documents of an evaluation split, findable by the hashes of their sketches."""

    def __init__(self, sketch: Sketches) -> None:
        self._sketch = sketch
        order = np.argsort(sketch.hashes, kind="stable")
        self._documents = sketch.documents[order]
        self._hashes, self._first, self._number = np.unique(sketch.hashes[order], return_index=True, return_counts=True)
        self._number = np.minimum(self._number, _MAX_POSTINGS)
        self.found = np.zeros(len(sketch.starts) - 1, dtype=bool)  # documents with a near duplicate

    def compare(self, train: Sketches) -> None:
        """Marks the checked documents that are near duplicates of one of these train documents."""
        if not len(self._hashes) or not len(train.hashes):
            return
        place = np.minimum(np.searchsorted(self._hashes, train.hashes), len(self._hashes) - 1)
        hit = self._hashes[place] == train.hashes
        place, number = place[hit], self._number[place[hit]]
        step = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        checked = self._documents[np.repeat(self._first[place], number) + step]
        learned = np.repeat(train.documents[hit], number)
        still = ~self.found[checked]
        pairs, common = np.unique(
            learned[still] * len(self.found) + checked[still], return_counts=True
        )  # one number a pair
        learned, checked = np.divmod(pairs, len(self.found))
        sizes = np.diff(train.starts)[learned], np.diff(self._sketch.starts)[checked]
        likely = common >= THRESHOLD * np.maximum(*sizes)  # no pair below can reach the threshold
        for one, other in zip(learned[likely].tolist(), checked[likely].tolist(), strict=True):
            if not self.found[other] and similarity(train.of(one), self._sketch.of(other)) >= THRESHOLD:
                self.found[other] = True


def count_near_duplicates(train: Path, evaluation: dict[str, Path]) -> dict[str, dict[str, int]]:
    """For each evaluation split: how many documents were checked, and how many of them stand in train nearly so.

    Args:
        train: The prepared table of the train split.
        evaluation: Prepared tables, keyed by split.
    """
    words = _WordHashes()
    indices = {split: _Index(_checked(path, words)) for split, path in evaluation.items()}
    for texts in _texts(train):
        batch = sketches(texts, words)
        for index in indices.values():
            index.compare(batch)
    return {
        split: {"checked": len(index.found), "near_duplicates": int(index.found.sum())}
        for split, index in indices.items()
    }


def _checked(path: Path, words: dict[str, int]) -> Sketches:
    """Sketches of every n-th document of a table, with the smallest n that keeps to the bound."""
    with pq.ParquetFile(path) as file:
        step = max(-(-file.metadata.num_rows // MAX_CHECKED), 1)
    parts, start = [], 0
    for texts in _texts(path):
        parts.append(sketches(texts[-start % step :: step], words))
        start += len(texts)
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(part.starts) for part in parts)])
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *(part.hashes for part in parts)])
    documents = np.repeat(np.arange(len(lengths) - 1), lengths[1:])
    return Sketches(documents, hashes, np.cumsum(lengths))


def _texts(path: Path) -> Iterator[list[str]]:
    for batch in read_batches(path, columns=["text"], batch_rows=_BATCH_ROWS):
        yield batch.column("text").to_pylist()
