"""Documents of valid and test that stand in train with small changes; they are found, not removed.

Two documents are near duplicates where they have 0.9 of their words in common, each occurrence counted for itself, and
0.3 of their different word 5-grams, so that the order is much the same. Both are Jaccard similarities of the folded
documents, read off sketches (`elman.data.sketches`). A word changed in place costs one word and up to five 5-grams, so
that 5-grams alone miss copies of short documents. `lee2022deduplicating` finds its candidates by 5-grams too.

Memory and time are bounded: at most 20,000 documents of each evaluation split are checked (every n-th), a 5-gram leads
to at most 50 of them, and a train document is given up after 8 that are like it but not near. Where a passage stands in
more, the count is a lower bound.
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
from elman.data.sketches import (
    BATCH_BYTES,
    BATCH_ROWS,
    HASH_BITS,
    MAX_BYTES,
    Indices,
    Sketcher,
    Sketches,
    joined,
    similarity,
)

WORDS_IN_COMMON = 0.9  # Jaccard similarity of the words, each occurrence for itself
GRAMS_IN_COMMON = 0.3  # Jaccard similarity of the sets of 5-grams
MAX_CHECKED = 20_000  # documents of an evaluation split
_MAX_POSTINGS = 50  # documents that one 5-gram leads to
_MAX_MISSES = 8  # documents that a train document is compared with in vain, those with most 5-grams in common first
_FILTER_BITS = 24  # of a table that tells for most hashes that they are in no checked document
_FILTER_SHIFT = np.uint64(HASH_BITS - _FILTER_BITS)


class NearDuplicates(NamedTuple):
    """What was found in one evaluation split; P pairs, one for each document that has a near duplicate.

    Attributes:
        checked: Documents that were looked up.
        rows: int64 (P,). The documents' numbers in their table.
        train_rows: int64 (P,). Of each the train document that was met first, by its number in the table of train.
        similarities: float64 (P,). How many of their words each pair has in common (Jaccard).
    """

    checked: int
    rows: Indices
    train_rows: Indices
    similarities: npt.NDArray[np.float64]


class _Index:
    """The checked documents, findable by the hashes of their 5-grams.

    Args:
        grams: Their sketches of 5-grams.
        words: Their sketches of words.

    Attributes:
        found: int64 (documents,). The train document that each is a near duplicate of, -1 where there is none.
        similarities: float64 (documents,). How many words the two share.
    """

    def __init__(self, grams: Sketches, words: Sketches) -> None:
        self._grams, self._words = grams, words
        order = np.argsort(grams.hashes, kind="stable")
        ordered = grams.hashes[order]
        first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
        self._documents = grams.documents[order]
        self._hashes = ordered[first]
        self._first = np.flatnonzero(first)
        self._number = np.minimum(np.diff(np.append(self._first, len(ordered))), _MAX_POSTINGS)
        self._filter = np.zeros(1 << _FILTER_BITS, dtype=bool)
        self._filter[self._hashes >> _FILTER_SHIFT] = True
        self.found = np.full(len(grams.num_words), -1, dtype=np.int64)
        self.similarities = np.zeros(len(self.found))

    def compare(self, texts: list[bytes], sketcher: Sketcher, *, first_row: int) -> None:
        """Notes which checked documents are near duplicates of these train documents, numbered from `first_row`."""
        grams = sketcher.grams(sketcher.split(texts))
        learned, checked = self._likely(grams)
        if not len(learned):
            return
        some, places = np.unique(learned, return_inverse=True)
        words = sketcher.words(sketcher.split([texts[one] for one in some]))
        misses = [0] * len(some)
        for place, other in zip(places.tolist(), checked.tolist(), strict=True):
            if self.found[other] >= 0 or misses[place] == _MAX_MISSES:
                continue
            alike = similarity(words.of(place), self._words.of(other))
            if alike >= WORDS_IN_COMMON and similarity(grams.of(some[place]), self._grams.of(other)) >= GRAMS_IN_COMMON:
                self.found[other], self.similarities[other] = first_row + some[place], alike
            else:
                misses[place] += 1

    def _likely(self, train: Sketches) -> tuple[Indices, Indices]:
        """Pairs of a train and a checked document that may be near duplicates; no other pair can be one.

        Those of a train document stand together, first those with the most 5-grams in common.
        """
        learned, place = self._shared(train)
        number = self._number[place]
        step = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        checked = self._documents[np.repeat(self._first[place], number) + step]
        learned = np.repeat(learned, number)
        still = self.found[checked] < 0
        pairs, common = np.unique(learned[still] * len(self.found) + checked[still], return_counts=True)
        learned, checked = np.divmod(pairs, max(len(self.found), 1))
        sizes = np.diff(train.starts)[learned], np.diff(self._grams.starts)[checked]
        lengths = train.num_words[learned], self._grams.num_words[checked]
        likely = common >= GRAMS_IN_COMMON * np.maximum(*sizes)
        likely &= np.minimum(*lengths) >= WORDS_IN_COMMON * np.maximum(*lengths)
        order = np.lexsort((-common[likely], learned[likely]))
        return learned[likely][order], checked[likely][order]

    def _shared(self, train: Sketches) -> tuple[Indices, Indices]:
        """Train documents, and where in the index each hash stands that they share with a checked document."""
        likely = self._filter[train.hashes >> _FILTER_SHIFT]  # most hashes end here, without a search
        documents, hashes = train.documents[likely], train.hashes[likely]
        place = np.minimum(np.searchsorted(self._hashes, hashes), max(len(self._hashes) - 1, 0))
        hit = self._hashes[place] == hashes if len(self._hashes) else np.zeros(len(hashes), dtype=bool)
        return documents[hit], place[hit]


def find_near_duplicates(train: Path, evaluation: dict[str, Path]) -> dict[str, NearDuplicates]:
    """For each evaluation split: how many documents were checked, and which of them stand in train nearly so.

    Args:
        train: The prepared table of the train split.
        evaluation: Prepared tables, keyed by split.
    """
    sketcher = Sketcher()
    steps = {split: _step(path) for split, path in evaluation.items()}
    grams: list[Sketches] = []
    words: list[Sketches] = []
    checked = dict.fromkeys(evaluation, 0)
    for split, path in evaluation.items():
        for texts in _batches(path, step=steps[split]):
            of_texts = sketcher.split(texts)
            grams.append(sketcher.grams(of_texts))
            words.append(sketcher.words(of_texts))
            checked[split] += len(texts)
    index = _Index(joined(grams), joined(words))
    row = 0
    for texts in _batches(train, step=1):
        index.compare(texts, sketcher, first_row=row)
        row += len(texts)
    duplicates, start = {}, 0
    for split, number in checked.items():
        places = start + np.flatnonzero(index.found[start : start + number] >= 0)
        rows = (places - start) * steps[split]
        duplicates[split] = NearDuplicates(number, rows, index.found[places], index.similarities[places])
        start += number
    return duplicates


def _step(path: Path) -> int:
    """The smallest n with which every n-th document of a table keeps to the bound."""
    with pq.ParquetFile(path) as file:
        return max(-(-int(file.metadata.num_rows) // MAX_CHECKED), 1)


def _batches(path: Path, *, step: int) -> Iterator[list[bytes]]:
    """Every `step`-th document of a table, folded and in UTF-8, in lists of a bounded size."""
    batch: list[bytes] = []
    size = 0
    texts = (text for part in read_batches(path, columns=["text"]) for text in part.column("text").to_pylist())
    for text in islice(texts, 0, None, step):
        document = fold(text, collapsed=True).encode()[:MAX_BYTES]
        if len(batch) == BATCH_ROWS or size + len(document) > BATCH_BYTES:
            if batch:
                yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document)
    if batch:
        yield batch
