"""Texts as users give them: cleaned as the prepare stage cleans, in pools of bounded size, the unusable ones named."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from elman.data.cleaning import clean_text
from elman.errors import DataError
from elman.models.serving import Cleaning

Answer = TypeVar("Answer")

_POOL_TEXTS = 4096
_POOL_CHARACTERS = 1 << 21


class Refused(NamedTuple):
    """A text that no model can read.

    Attributes:
        reason: Why, for a person.
    """

    reason: str


class Pause:
    """See `PAUSE`."""


PAUSE = Pause()  # among texts: no more have come yet, so that those that have are answered


class Pool(NamedTuple):
    """Texts that are encoded and scored together.

    Attributes:
        texts: Clean, in order, without the refused ones.
        refused: By place among all texts of the pool.
        size: How many texts, the refused ones included.
    """

    texts: list[str]
    refused: dict[int, Refused]
    size: int


def pools(texts: Iterable[object], *, cleaning: Cleaning) -> Iterator[Pool]:
    """All texts in order, in pools of at most 4,096 texts and about 2 million characters: memory holds one of them.

    Args:
        texts: Strings; a `Refused` is passed on, `PAUSE` ends a pool, anything else is refused.
        cleaning: As the prepare stage cleaned the model's text.

    Raises:
        DataError: `texts` is one text.
    """
    if isinstance(texts, str | bytes):
        raise DataError("texts: a list of texts is needed, and one text came; write [text]")
    clean: list[str] = []
    refused: dict[int, Refused] = {}
    size = characters = 0
    settings = cleaning.model_dump()
    for text in texts:
        if text is not PAUSE:
            found = _accept(text, settings)
            if isinstance(found, Refused):
                refused[size] = found
            else:
                clean.append(found)
                characters += len(found)
            size += 1
        if size >= _POOL_TEXTS or characters >= _POOL_CHARACTERS or (size and text is PAUSE):
            yield Pool(clean, refused, size)
            clean, refused, size, characters = [], {}, 0, 0
    if size:
        yield Pool(clean, refused, size)


def _accept(text: object, settings: dict[str, str | bool]) -> str | Refused:
    found = checked(text)
    return found if isinstance(found, Refused) else clean_text(found, **settings)  # type: ignore[arg-type]


def checked(text: object) -> str | Refused:
    """The text as it came, or why no model can read it."""
    if isinstance(text, Refused):
        return text
    if not isinstance(text, str):
        return Refused(f"a text is needed, but came {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return Refused(_half_of_a_pair(text))
    return text


def _half_of_a_pair(text: str) -> str:
    place, code = next((place, ord(one)) for place, one in enumerate(text, start=1) if "\ud800" <= one <= "\udfff")
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte that it could not decode
        return f"character {place} is the byte {code - 0xDC00:#04x}, which is not of the file's encoding"
    return f"character {place} is half of a surrogate pair (U+{code:04X}): the text was cut or decoded wrongly"


def in_order(pool: Pool, answers: Iterable[Answer]) -> Iterator[Answer | Refused]:
    """The answers of a pool's texts with the refused ones in their places."""
    rest = iter(answers)
    for place in range(pool.size):
        yield pool.refused[place] if place in pool.refused else next(rest)


def all_or_error(answers: Iterable[Answer | Refused]) -> list[Answer]:
    """All answers.

    Raises:
        DataError: A text was refused; names its row, counted from 1.
    """
    found = []
    for row, answer in enumerate(answers, start=1):
        if isinstance(answer, Refused):
            raise DataError(f"row {row}: {answer.reason}")
        found.append(answer)
    return found
