"""What every reader yields: one raw row, usable or with the reason why it is not."""

import difflib
from typing import NamedTuple

from elman.errors import DataError


class RawRow(NamedTuple):
    """One row as it stands in a source, before cleaning.

    Attributes:
        number: 1-based number of the row (or document) in its source; a header is not counted.
        text: The document, None where `reason` is set.
        label: The label as text, None without one.
        split: The split that the data itself gives: train, valid, test or None.
        reason: Why the row cannot be used (a short code), None where it can.
        detail: Says more about `reason`, for a person.
        label_type: How a typed format stores the label: string, number or boolean; None where it has no types.
    """

    source: str
    number: int
    text: str | None = None
    label: str | None = None
    split: str | None = None
    reason: str | None = None
    detail: str = ""
    label_type: str | None = None


class Columns(NamedTuple):
    """The columns that are read; None where there is none."""

    text: str
    label: str | None = None
    split: str | None = None

    def positions(self, header: list[str], *, source: str) -> "Positions":
        """Where the columns stand in a header.

        Raises:
            DataError: One is missing or stands there twice.
        """
        return Positions(
            text=_position(header, self.text, setting="text_column", source=source),
            label=None if self.label is None else _position(header, self.label, setting="label_column", source=source),
            split=None if self.split is None else _position(header, self.split, setting="split_column", source=source),
        )


class Positions(NamedTuple):
    """Indices of the columns in a row's fields."""

    text: int
    label: int | None
    split: int | None


_SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "val": "valid",
    "dev": "valid",
    "test": "test",
    "testing": "test",
}


def split_name(word: str) -> str | None:
    """The split that a word means, in any case of letters.

    Example:
        >>> split_name("Dev"), split_name("stations")
        ('valid', None)
    """
    return _SPLIT_NAMES.get(word.lower())


def shown(text: str, *, width: int = 60) -> str:
    """A text as it can stand in a message: quoted, escaped and short."""
    return repr(text if len(text) <= width else text[:width] + "...")


def missing_column(name: str, *, setting: str, found: list[str], source: str) -> DataError:
    """The error for a column that a source lacks: what is there, and the nearest name."""
    folded = {column.casefold(): column for column in found}
    near = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.5)
    hint = f"did you mean {folded[near[0]]!r}? " if near else ""
    listed = ", ".join(shown(column) for column in found[:20])
    without = " (null for text without labels)" if setting == "label_column" else ""
    return DataError(
        f"{source}: there is no column {name!r}; {hint}It has the columns {listed}. "
        f"Set dataset.{setting} in params.yaml{without}"
    )


def _position(header: list[str], name: str, *, setting: str, source: str) -> int:
    if header.count(name) > 1:
        raise DataError(f"{source}: the header holds the column {name!r} {header.count(name)} times; rename one")
    if name not in header:
        raise missing_column(name, setting=setting, found=header, source=source)
    return header.index(name)
