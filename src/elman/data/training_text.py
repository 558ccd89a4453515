"""The train split as the short sentences that SentencePiece learns from, without losing a byte.

SentencePiece drops, and does not count: sentences over 4,192 bytes; sentences that hold U+2585; and the characters of
`<pad>`, `<unk>`, `<s>` and `</s>` where a text has them. So the text is cut here, at spaces, and what cannot be used
is counted. A cut changes nothing for a model: SentencePiece splits at spaces itself and puts a space before every
sentence, in place of the one that the cut took away.

The sentences are only a few words long for another reason. Unigram training takes its candidates from a suffix array,
which holds only those substrings that are followed by two different characters. A word that is always followed by a
space is then no candidate, since a piece cannot hold a space in its middle. In text without punctuation that is nearly
every word; a sentence end after some of its occurrences makes it one. On Reuters R8 with 8,000 pieces this takes the
train split from 759,880 tokens to 622,867, which is what bpe gets (635,290).
"""

import re
from collections.abc import Iterable, Iterator

import numpy as np

from elman.data.tokenizer import MAX_PIECE_BYTES, SPECIAL_PIECES

_BLOCK_CHARACTERS = 8192  # what is sampled as one, so that a few huge documents are not all or nothing
_WORDS = 4  # a sentence; more words need less memory in training and lose more candidates

_BETWEEN_WORDS = re.compile(r"(?<=[^ ]) (?=[^ ])")  # a single space: no run of spaces is ever torn apart
_RESERVED = re.compile("[\u2585\0]+")  # SentencePiece's own mark for unk, and what it takes for the end of a string
_SPECIAL = re.compile("|".join(map(re.escape, SPECIAL_PIECES)))
_INSIDE_SPECIAL = re.compile("(?<=<)(?=" + "|".join(re.escape(piece[1:]) for piece in SPECIAL_PIECES) + ")")


class TrainingText:
    """Documents as sentences of at most 4,192 bytes; iterating counts what was seen and what was used.

    Args:
        documents: Texts.
        whole_words: For a word model: a word with a character or string that SentencePiece cannot learn is left out
            (it will be unk) instead of being cut around it.
        keep_fraction: Share of the text that is used; blocks of about 8,192 characters are drawn at random.
        random: Source of the draws.

    Attributes:
        bytes_seen: UTF-8 bytes of all documents so far.
        bytes_used: Those that a tokenizer is trained on, the spaces at which the text was cut included.
        bytes_left_out: Those that were not drawn.
        bytes_reserved: Those that SentencePiece cannot learn: U+2585 and NUL, for a word model the words that hold them
            or a special piece.
        words_cut: Words that are longer than a sentence may be and were cut between two characters.

    Example:
        >>> text = TrainingText(["one two three four five", "six"])
        >>> list(text)
        ['one two three four', 'five', 'six']
        >>> text.bytes_seen, text.bytes_used
        (26, 26)
    """

    def __init__(
        self,
        documents: Iterable[str],
        *,
        whole_words: bool = False,
        keep_fraction: float = 1.0,
        random: np.random.Generator | None = None,
    ) -> None:
        self._documents = documents
        self._whole_words = whole_words
        self._keep_fraction = keep_fraction
        self._random = random or np.random.default_rng(0)
        self.bytes_seen = 0
        self.bytes_used = 0
        self.bytes_left_out = 0
        self.bytes_reserved = 0
        self.words_cut = 0

    def __iter__(self) -> Iterator[str]:
        for document in self._documents:
            for block, size in _blocks(document):
                self.bytes_seen += size
                if self._keep_fraction < 1.0 and self._random.random() >= self._keep_fraction:
                    self.bytes_left_out += size
                    continue
                self.bytes_used += size
                yield from self._sentences(block)

    def _sentences(self, block: str) -> Iterator[str]:
        for part in self._usable(block):
            words = _BETWEEN_WORDS.split(part)
            for start in range(0, len(words), _WORDS):
                yield from self._short(words[start : start + _WORDS])

    def _usable(self, block: str) -> list[str]:
        """Cuts a block around what SentencePiece cannot learn, and counts what that costs."""
        if not (_RESERVED.search(block) or _SPECIAL.search(block)):
            return [block]
        if self._whole_words:
            words = [word for word in block.split(" ") if not (_RESERVED.search(word) or _SPECIAL.search(word))]
            parts = [" ".join(words)]
        else:
            parts = [text for part in _RESERVED.split(block) for text in _INSIDE_SPECIAL.split(part)]
        lost = _utf8_length(block) - sum(map(_utf8_length, parts))
        self.bytes_reserved += lost
        self.bytes_used -= lost
        return parts

    def _short(self, words: list[str]) -> Iterator[str]:
        sentence = " ".join(words)
        if len(sentence) * 4 <= MAX_PIECE_BYTES or _utf8_length(sentence) <= MAX_PIECE_BYTES:
            if sentence:
                yield sentence
            return
        for word in words:
            pieces = list(_cut_word(word))
            self.words_cut += len(pieces) > 1
            yield from pieces


def _blocks(document: str) -> Iterator[tuple[str, int]]:
    """Cuts a document at spaces; gives each part and its UTF-8 bytes, with the space after it."""
    start = 0
    while start < len(document):
        space = _BETWEEN_WORDS.search(document, start + _BLOCK_CHARACTERS)
        end = space.start() if space else len(document)
        block = document[start:end]
        yield block, _utf8_length(block) + bool(space)
        start = end + 1


def _cut_word(word: str) -> Iterator[str]:
    """Cuts a word between characters, each part at most `MAX_PIECE_BYTES` in UTF-8."""
    step = MAX_PIECE_BYTES if word.isascii() else MAX_PIECE_BYTES // 4
    for start in range(0, len(word), step):
        yield word[start : start + step]


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
