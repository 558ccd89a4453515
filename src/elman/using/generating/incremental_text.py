"""Text of tokens that come one by one."""

from elman.data.tokenizer import SPECIAL_PIECES, Tokenizer

_UNREADABLE = "\ufffd"


class IncrementalText:
    """Gives the text of tokens as soon as it is certain; joined, it is the tokenizer's `decode`.

    A byte piece is held until its character is whole. A byte that belongs to none comes out as U+FFFD.

    Args:
        tokenizer: The tokenizer.
        skip_space: Whether the space that the text begins with is left out: at the beginning of a document, where the
            tokenizer puts one, or where it stands there already.
    """

    def __init__(self, tokenizer: Tokenizer, *, skip_space: bool) -> None:
        self._tokenizer, self._skip_space = tokenizer, skip_space
        self._bytes = b""

    def add(self, token_id: int) -> str:
        """Takes the next token; returns the text that is certain by now."""
        byte = self._tokenizer.byte(token_id)
        if byte is not None:
            self._skip_space = False
            self._bytes += bytes([byte])
            return self._characters(ended=False)
        text = self._characters(ended=True)
        if token_id < len(SPECIAL_PIECES):
            return text
        piece = self._tokenizer.piece(token_id).replace("▁", " ")
        if self._skip_space:
            piece = piece.removeprefix(" ")
            self._skip_space = False
        return text + piece

    def finish(self) -> str:
        """The rest."""
        return self._characters(ended=True)

    def _characters(self, *, ended: bool) -> str:
        """Takes whole characters off the held bytes; at the end all of them."""
        found = ""
        while self._bytes:
            length = _length(self._bytes[0])
            if len(self._bytes) < length and not ended and all(0x80 <= byte < 0xC0 for byte in self._bytes[1:]):
                break
            try:
                found += self._bytes[:length].decode() if length else _UNREADABLE
            except UnicodeDecodeError:
                found, length = found + _UNREADABLE, 1
            self._bytes = self._bytes[max(length, 1) :]
        return found


def _length(first: int) -> int:
    """Bytes of a character in UTF-8 by its first one; 0 where none begins with it."""
    if first < 0x80:
        return 1
    return 2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4 if 0xF0 <= first < 0xF5 else 0
