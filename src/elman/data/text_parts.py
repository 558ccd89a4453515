"""Text to ids part by part: what a tokenizer gives for a text whose end is not known yet."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import sentencepiece

from elman.data.tokenizer import SPECIAL_PIECES, Tokenizer
from elman.errors import TokenizerError

# `normalizer_spec { add_dummy_prefix: false }` in SentencePiece's format. Two messages after one another are read as
# one, in which the later value of a field holds: a model with this at its end puts no space in front of a text.
_NO_SPACE_IN_FRONT = bytes([3 << 3 | 2, 2, 3 << 3 | 0, 0])


class Span(NamedTuple):
    """A piece of a text.

    Attributes:
        token_id: Its id.
        end: Characters of the text up to its end.
        empty: Whether no character of the text is its own: a space put in front, or a byte of a character that goes on.
    """

    token_id: int
    end: int
    empty: bool


class PartEncoder:
    """Encodes the parts of a text that is cut before spaces.

    The ids of the parts, one after the other, are those of the text: a piece never reaches across a space, so that
    neither way of finding the best pieces looks across one. In a long text SentencePiece adds up log-probabilities in
    32 bits from its beginning, and may choose otherwise between two ways that are equal but for rounding.

    Args:
        tokenizer: The tokenizer.

    Raises:
        TokenizerError: A piece of the tokenizer reaches across a space (it was not trained here).
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        if tokenizer.is_word_model:
            return
        pieces = [tokenizer.piece(number) for number in range(len(SPECIAL_PIECES), tokenizer.vocab_size)]
        across = [piece for piece in pieces if "▁" in piece[1:]]
        if across or "▁" not in pieces:
            found = f"the piece {across[0]!r} reaches across a space" if across else "a space has no piece of its own"
            raise TokenizerError(f"this tokenizer cannot read a text as it comes: {found}; score whole texts instead")
        self._inside = sentencepiece.SentencePieceProcessor()
        self._inside.LoadFromSerializedProto(tokenizer.serialized + _NO_SPACE_IN_FRONT)
        self._whole = sentencepiece.SentencePieceProcessor()
        self._whole.LoadFromSerializedProto(tokenizer.serialized)

    def first(self, part: str) -> npt.NDArray[np.int32]:
        """The ids of the part that a text begins with, int32 (T,)."""
        return self._tokenizer.encode_batch([part], threads=1)[0]

    def others(self, parts: Sequence[str]) -> list[npt.NDArray[np.int32]]:
        """The ids of other parts, one int32 array (T,) each.

        Args:
            parts: A part begins with the space before it, or goes on inside a word. To a word model what goes on is no
                token of its own.
        """
        if self._tokenizer.is_word_model:
            return [np.array(self._words(part), np.int32) for part in parts]
        encoded: list[npt.NDArray[np.int32]] = self._inside.encode(list(parts), num_threads=1, return_type="numpy")
        return encoded

    def spans(self, part: str, *, first: bool) -> list[Span]:
        """The pieces of one part with their places; `first` says whether the text begins with it."""
        if self._tokenizer.is_word_model:
            ids = self.first(part).tolist() if first else self._words(part)
            return [Span(token_id, len(part), False) for token_id in ids]
        found = (self._whole if first else self._inside).encode(part, return_type="offset_mapping")
        rows = zip(found["ids"], found["offsets"], strict=True)
        return [Span(token_id, end, end == begin) for token_id, (begin, end) in rows]

    def _words(self, part: str) -> list[int]:
        if part.startswith(" "):
            return self._tokenizer.word_ids(part[1:])
        return self._tokenizer.word_ids(part)[1:]
