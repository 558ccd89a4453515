"""The same document in two splits: found by the hash of its folded text, and taken out of the split that learns."""

import hashlib
import unicodedata
from array import array

import numpy as np
import numpy.typing as npt

_CHUNK = 1 << 18  # documents looked up together


def fold(text: str, *, collapsed: bool = False) -> str:
    r"""A text without its case, its spacing and its way to compose characters.

    Args:
        text: A document.
        collapsed: Whether its runs of white space are single spaces already, which saves splitting it.

    Example:
        >>> fold(" Good\n FILM ") == fold("good film")
        True
    """
    folded = text.casefold() if collapsed else " ".join(text.casefold().split())
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


def text_digest(text: str, *, collapsed: bool = False) -> int:
    """A 64-bit hash of the folded text, equal on every machine and in every run.

    Among ten million documents two different ones share it with a chance of 3 in a million.

    Raises:
        UnicodeEncodeError: The text holds half of a surrogate pair, which is no character.
    """
    folded = fold(text, collapsed=collapsed)
    return int.from_bytes(hashlib.blake2b(folded.encode(), digest_size=8).digest(), "big")


class Digests:
    """The digests of each split's documents in row order: 8 bytes a document."""

    def __init__(self, splits: tuple[str, ...]) -> None:
        self._values = {split: array("Q") for split in splits}

    def add(self, split: str, digest: int) -> None:
        """Appends the digest of the split's next document."""
        self._values[split].append(digest)

    def of(self, split: str) -> npt.NDArray[np.uint64]:
        """The split's digests in row order, without a copy; uint64 (documents,)."""
        values = self._values[split]
        return np.frombuffer(values, dtype=np.uint64) if values else np.zeros(0, dtype=np.uint64)

    def repeated_inside(self, split: str) -> int:
        """Documents of a split that repeat an earlier one of the same split."""
        values = np.sort(self.of(split))  # in 8 bytes a document; np.unique takes several times as much
        return int(np.count_nonzero(values[1:] == values[:-1]))

    def standing_in(self, split: str, others: tuple[str, ...]) -> npt.NDArray[np.int8]:
        """Which documents of `split` also stand in other splits; int8 (documents,).

        0 where a document stands in none, else the 1-based number of the first of `others` that holds it.
        """
        values = self.of(split)
        standing = np.zeros(len(values), dtype=np.int8)
        for number in range(len(others), 0, -1):
            known = np.sort(self.of(others[number - 1]))
            if not len(known):
                continue
            for start in range(0, len(values), _CHUNK):
                part = values[start : start + _CHUNK]
                place = np.minimum(np.searchsorted(known, part), len(known) - 1)
                standing[start : start + _CHUNK][known[place] == part] = number
        return standing

    def first_rows(self, split: str, wanted: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The first document of `split` with each of these digests; int64 (wanted,), -1 where there is none."""
        values, number = self.of(split), len(self.of(split))
        known, back = np.unique(wanted, return_inverse=True)
        first = np.full(len(known), number, dtype=np.int64)
        for start in range(0, number if len(known) else 0, _CHUNK):
            part = values[start : start + _CHUNK]
            place = np.minimum(np.searchsorted(known, part), len(known) - 1)
            hit = np.flatnonzero(known[place] == part)
            np.minimum.at(first, place[hit], start + hit)
        return np.where(first == number, -1, first)[back]

    def drop(self, split: str, mask: npt.NDArray[np.bool_]) -> None:
        """Forgets the documents where `mask` is true; bool (documents,)."""
        self._values[split] = array("Q", self.of(split)[~mask].tobytes())
