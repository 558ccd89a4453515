"""Tokens of a text that comes in pieces."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elman.data.text_parts import PartEncoder
from elman.data.tokenizer import UNK_ID
from elman.using.streaming.incremental_cleaning import HELD

_PART = re.compile(" +[^ ]*|[^ ]+")

Ids = npt.NDArray[np.int32]


@dataclass(slots=True)
class IncrementalTokens:
    """Gives tokens as soon as nothing that follows can change them; joined, they are those of the whole text.

    The pieces of a word depend on all of it, and on no other word: a word is held until the space after it. One of more
    than 1,024 characters (a text in a language that writes no spaces, too) is encoded 1,024 characters at a time,
    of which the pieces in the first half are given: the best pieces there hardly ever depend on what stands 500
    characters later, but they could. This depends on the text alone and not on the pieces in which it comes.

    Attributes:
        encoder: Of the model's tokenizer.
        held: Clean text of which no token was given.
        begun: Whether tokens were given.
        inside: Whether `held` goes on with a word of which tokens were given.
        unknown: Whether the last token of that word was unk, which goes on with the next unknown character.
    """

    encoder: PartEncoder
    held: str = ""
    begun: bool = False
    inside: bool = False
    unknown: bool = False

    def feed(self, clean: str, *, whole_words: bool = False) -> Ids:
        """Takes the next clean text; returns the ids that are certain by now, int32 (T,).

        Args:
            clean: The text.
            whole_words: Whether it is known that a space follows, where anything does.
        """
        text = self.held + clean
        last_word = len(text[: text.rfind(" ") + 1].rstrip(" "))  # starts with the spaces before it
        end = len(text) if whole_words else last_word
        given = self._encode(_PART.findall(text[:end]))
        self.held = text[end:]
        if len(self.held) > HELD:
            given += self._head()
        return _joined(given)

    def finish(self) -> Ids:
        """Ends the text: returns the ids of the rest of it, and starts anew."""
        given = self._encode([self.held] if self.held else [])
        self.held = ""
        self.begun = self.inside = self.unknown = False
        return _joined(given)

    def _encode(self, parts: list[str]) -> list[Ids]:
        """The ids of parts whose end is known."""
        if self.begun and not self.inside and all(len(part) <= HELD for part in parts):
            return self.encoder.others(parts)
        given: list[Ids] = []
        for part in parts:
            self.held = part
            given += self._head()
            rest = self.held
            given.append(self._known(self.encoder.others([rest])[0] if self.begun else self.encoder.first(rest)))
            self.begun, self.inside, self.unknown = True, False, False
        return given

    def _head(self) -> list[Ids]:
        """The ids of all but the last 1,024 characters, or fewer, of a long word in `held`, which keeps the rest."""
        given: list[Ids] = []
        while len(self.held) > HELD:
            spans = self.encoder.spans(self.held[:HELD], first=not self.begun)
            ends = [number for number, span in enumerate(spans) if span.end <= HELD // 2 and not span.empty]
            kept = spans[: ends[-1] + 1] if ends else spans
            given.append(self._known(np.array([span.token_id for span in kept], np.int32)))
            self.held = self.held[kept[-1].end if ends else HELD :]
            self.begun = self.inside = True
        return given

    def _known(self, ids: Ids) -> Ids:
        """The ids without an unk that only goes on with the one before it."""
        first = int(self.inside and self.unknown and len(ids) > 0 and ids[0] == UNK_ID)
        self.unknown = bool(ids[-1] == UNK_ID) if len(ids) else self.unknown
        return ids[first:]


def _joined(parts: list[Ids]) -> Ids:
    return np.concatenate([np.zeros(0, np.int32), *parts])
