"""Bottom-k sketches of documents: of each the k smallest hashes of its elements (`broder1997resemblance`).

The elements are either a document's different word 5-grams, which know the order of words, or its words, each
occurrence for itself: the second "the" is another element than the first. The Jaccard similarity of two documents,

    J(A, B) = |A and B| / |A or B|,  A and B the sets of their elements,

is read off the sketches. A document of up to k elements is its own sketch, so that the comparison is exact; of a longer
one it is an estimate with a standard error of about sqrt(J (1 - J) / k): 0.027 at J = 0.9.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

GRAM = 5  # words
SKETCH = 128  # hashes a document, k
HASH_BITS = 55
MAX_BYTES = 1 << 20  # of a document; what is beyond is not compared
BATCH_BYTES = 1 << 18  # of documents worked on together: arrays of 8 bytes for each should stay in the cache
BATCH_ROWS = 512  # at most, since a document's number takes the upper 9 bits of a sort key

Hashes = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

_MASK = np.uint64((1 << HASH_BITS) - 1)
_BASE = 0x9E3779B97F4A7C15  # odd, so that it can be divided by modulo 2^64


class Sketches(NamedTuple):
    """Bottom-k sketches of some documents, one after the other and sorted inside each."""

    documents: Indices  # (hashes,): the document of each hash
    hashes: Hashes  # (hashes,)
    starts: Indices  # (documents + 1,): document d has hashes[starts[d]:starts[d + 1]]
    num_words: Indices  # (documents,)

    def of(self, document: int) -> Hashes:
        """The sketch of one document."""
        return self.hashes[self.starts[document] : self.starts[document + 1]]


class Words(NamedTuple):
    """The words of some documents, ready to be hashed.

    Attributes:
        owner: (words,). The document of each word.
        begin: (words,). The byte that it begins with.
        end: (words,). The byte after it.
        sums: (bytes,). Prefix sums of byte_n B^n.
        num_words: (documents,).
    """

    owner: Indices
    begin: Indices
    end: Indices
    sums: Hashes
    num_words: Indices


class Sketcher:
    """Makes sketches of up to 512 documents at a time; holds the tables of powers that hashing needs.

    The hash of the bytes from i to j is the difference of two prefix sums, without a loop over words:

        h(i, j) = B^-i * sum over n = i..j of byte_n B^n   (mod 2^64)
    """

    def __init__(self) -> None:
        size = MAX_BYTES + BATCH_BYTES + BATCH_ROWS
        self._powers = np.cumprod(np.full(size, _BASE, dtype=np.uint64))
        self._inverses = np.cumprod(np.full(size, pow(_BASE, -1, 1 << 64), dtype=np.uint64))

    def split(self, texts: list[bytes]) -> Words:
        """The words of folded documents in UTF-8."""
        buffer = np.frombuffer(b"\n".join([*texts, b""]), dtype=np.uint8)
        blank = buffer <= 0x20
        lengths = np.array([len(text) + 1 for text in texts], dtype=np.int64)
        edges = np.diff(blank.astype(np.int8), prepend=1)
        begin, end = np.flatnonzero(edges == -1), np.flatnonzero((edges == 1) & (np.arange(len(edges)) > 0))
        owner = np.searchsorted(np.cumsum(lengths), begin, side="right")
        sums = np.cumsum(buffer * self._powers[: len(buffer)])
        return Words(owner, begin, end, sums, np.bincount(owner, minlength=len(texts)))

    def grams(self, words: Words) -> Sketches:
        """Sketches of the different 5-grams; that of a document of fewer than 5 words is empty."""
        return _smallest(self._keys(words, length=GRAM), words.num_words)

    def words(self, words: Words) -> Sketches:
        """Sketches of the words, each occurrence for itself."""
        keys = np.sort(self._keys(words, length=1))  # equal words of a document stand together
        first = np.flatnonzero(_is_new(keys))
        occurrence = np.arange(len(keys)) - np.repeat(first, np.diff(np.append(first, len(keys))))
        elements = _mixed((keys & _MASK) + occurrence.astype(np.uint64) * np.uint64(_BASE))
        return _smallest((keys & ~_MASK) | (elements & _MASK), words.num_words)

    def _keys(self, words: Words, *, length: int) -> Hashes:
        """Document and hash of every run of words, in a single number; no run reaches over the end of a document."""
        first = np.arange(max(len(words.begin) - length + 1, 0))
        first = first[words.owner[first] == words.owner[first + length - 1]]
        begin, last = words.begin[first], words.end[first + length - 1] - 1
        before = np.where(begin > 0, words.sums[begin - 1], np.uint64(0))
        hashes: Hashes = _mixed((words.sums[last] - before) * self._inverses[begin])
        documents: Hashes = words.owner[first].astype(np.uint64) << np.uint64(HASH_BITS)
        return documents | (hashes & _MASK)


def _mixed(values: Hashes) -> Hashes:
    """Spreads the information of each value over all of its bits, as splitmix64 does at its end."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _is_new(keys: Hashes) -> npt.NDArray[np.bool_]:
    """Where sorted keys differ from the one before; NumPy's own unique is slower here."""
    return np.append(True, keys[1:] != keys[:-1])[: len(keys)]


def _smallest(keys: Hashes, num_words: Indices) -> Sketches:
    """Of each document the k smallest different hashes."""
    keys = np.sort(keys)
    keys = keys[_is_new(keys)]
    owner = (keys >> np.uint64(HASH_BITS)).astype(np.int64)
    starts = np.searchsorted(owner, np.arange(len(num_words) + 1))
    kept = np.arange(len(keys)) - starts[owner] < SKETCH
    hashes = keys[kept] & _MASK
    starts = np.searchsorted(owner[kept], np.arange(len(num_words) + 1))
    return Sketches(owner[kept], hashes, starts, num_words)


def joined(parts: list[Sketches]) -> Sketches:
    """The sketches of several batches, with the documents numbered on."""
    none = np.zeros(0, dtype=np.int64)
    lengths = np.concatenate([none, *(np.diff(part.starts) for part in parts)])
    hashes = np.concatenate([np.zeros(0, dtype=np.uint64), *(part.hashes for part in parts)])
    num_words = np.concatenate([none, *(part.num_words for part in parts)])
    starts = np.append(0, np.cumsum(lengths))
    return Sketches(np.repeat(np.arange(len(lengths)), lengths), hashes, starts, num_words)


def similarity(first: Hashes, second: Hashes) -> float:
    """The Jaccard similarity of two documents from their sketches; exact where neither has more than k elements."""
    full = [sketch[-1] for sketch in (first, second) if len(sketch) == SKETCH]
    if full:  # beyond the end of a full sketch nothing is known of that document
        first, second = first[first <= min(full)], second[second <= min(full)]
    common = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - common
    return common / union if union else 0.0
