"""Cleaning of a text that comes in pieces."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from elman.data.cleaning import clean_part, is_readable, without_controls
from elman.models.serving import Cleaning

HELD = 1024  # characters at most that wait for the end of a word, or for a character that can be seen

_LONG_WORD = re.compile(rf"\S{{{HELD + 1},}}")


@dataclass(slots=True)
class IncrementalCleaning:
    """Gives clean text as soon as nothing that follows can change it; joined, it is `clean_text` of all that came.

    What follows can change a word (accents are composed, and the form of a letter can depend on the next one), never
    what stands before white space. Two things are held for at most 1,024 characters. A longer run without white
    space is cut between two characters, where `clean_text` would see across. A text that begins with so many characters
    that cannot be seen is taken as readable, where `clean_text` would first look for one that can be seen. Both
    depend on the text alone and not on the pieces in which it comes.

    Attributes:
        cleaning: As the model's text was cleaned.
        held: The last word as it came, which may go on.
        unseen: Clean text without anything to see so far.
        begun: Whether there was clean text before `held`.
        inside: Whether `held` goes on with a word that was cut.
        readable: Whether anything to see has come.
    """

    cleaning: Cleaning
    held: str = ""
    unseen: str = ""
    begun: bool = False
    inside: bool = False
    readable: bool = False

    @property
    def whole_words(self) -> bool:
        """Whether the clean text so far ends with a word, so that a space follows, where anything does."""
        return self.cleaning.whitespace == "collapse" and not self.inside

    def feed(self, text: str) -> str:
        """Takes the next piece; returns what is certain by now."""
        text = self.held + without_controls(text)
        given, start = [], 0
        for end in _cuts(text):
            given.append(self._clean(text[start:end], cut=True))
            start = end
        last_word = "" if not text or text[-1].isspace() else text.rsplit(maxsplit=1)[-1]
        end = max(start, len(text) - max(len(last_word), text.endswith("\r")))  # "\r" and "\n" are one line end
        if end > start:
            given.append(self._clean(text[start:end], cut=False))
        self.held = text[end:]
        return self._seen("".join(given))

    def finish(self) -> str:
        """Ends the text: returns the rest of it, and starts anew."""
        rest = self._seen(self._clean(self.held, cut=False) if self.held else "")
        self.held = self.unseen = ""
        self.begun = self.inside = self.readable = False
        return rest

    def _clean(self, part: str, *, cut: bool) -> str:
        clean = clean_part(part, **self.cleaning.model_dump())
        if clean and self.begun and self.cleaning.whitespace == "collapse":
            goes_on = self.inside and not part[0].isspace()
            clean = clean if goes_on else f" {clean}"
        self.begun = self.begun or bool(clean)
        self.inside = cut
        return clean

    def _seen(self, clean: str) -> str:
        """Holds clean text back until there is anything to see: a text without it is no text."""
        if self.readable:
            return clean
        clean = self.unseen + clean
        if len(clean) <= HELD and not is_readable(clean):
            self.unseen = clean
            return ""
        self.unseen, self.readable = "", True
        return clean


def _cuts(text: str) -> Iterator[int]:
    """Where words of more than `HELD` characters are cut: the rest of each is at most that long."""
    for word in _LONG_WORD.finditer(text):
        place = word.start()
        while word.end() - place > HELD:
            place = _between_characters(text, place + HELD)
            yield place


def _between_characters(text: str, place: int) -> int:
    """The last place from `place` down where no mark or vowel sign that joins the character before it follows."""
    for earlier in range(place, place - HELD // 2, -1):
        if unicodedata.category(text[earlier])[0] != "M" and not "\u1160" <= text[earlier] <= "\u11ff":
            return earlier
    return place
