"""JSON lines: an object a line, with the text and the label under the names of the columns."""

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from elman.data.reading.rows import Columns, RawRow, missing_column, shown, split_name

_HEAD = 1_000  # lines over which a column has to be met at least once


def read_jsonl(lines: Iterator[str], *, columns: Columns, source: str) -> Iterator[RawRow]:
    """Rows of a JSON lines file.

    Raises:
        DataError: None of the first objects has one of the columns.
    """
    head = list(islice(lines, _HEAD))
    found = keys_of(head)
    for name, setting in zip(columns, ("text_column", "label_column", "split_column"), strict=True):
        if found and name is not None and name not in found:
            raise missing_column(name, setting=setting, found=found, source=source)
    for number, line in enumerate(chain(head, lines), start=1):
        yield _row(line, number, columns=columns, source=source)


def keys_of(lines: list[str]) -> list[str]:
    """The keys of the objects in these lines, in the order in which they are met."""
    keys: dict[str, None] = {}
    for line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            keys.update(dict.fromkeys(value))
    return list(keys)


def _row(line: str, number: int, *, columns: Columns, source: str) -> RawRow:
    if not line.strip():
        return RawRow(source, number, reason="blank_line", detail=f"line {number}")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return RawRow(source, number, reason="invalid_json", detail=f"{error}: {shown(line)}")
    if not isinstance(value, dict):
        return RawRow(source, number, reason="not_an_object", detail=shown(line))
    return _from_object(value, number, columns=columns, source=source)


def _from_object(value: dict[str, Any], number: int, *, columns: Columns, source: str) -> RawRow:
    text = value.get(columns.text)
    if text is None:
        return RawRow(source, number, reason="missing_text", detail=f"no {columns.text!r}")
    if not isinstance(text, str):
        return RawRow(source, number, reason="text_not_string", detail=f"{columns.text!r} is {shown(repr(text))}")
    split = None
    if columns.split is not None:
        given = value.get(columns.split)
        split = split_name(given) if isinstance(given, str) else None
        if split is None:
            detail = f"{columns.split!r} is {shown(repr(given))}, not train, valid or test"
            return RawRow(source, number, reason="unknown_split", detail=detail)
    if columns.label is None:
        return RawRow(source, number, text, split=split)
    label, label_type = label_text(value.get(columns.label))
    if label_type is None and label is None and value.get(columns.label) is not None:
        detail = f"{columns.label!r} is {shown(repr(value[columns.label]))}"
        return RawRow(source, number, split=split, reason="label_not_text", detail=detail)
    return RawRow(source, number, text, label, split, label_type=label_type)


def label_text(value: Any) -> tuple[str | None, str | None]:
    """A label as text, and the type under which it was stored; (None, None) where it cannot be a label.

    Example:
        >>> label_text(1), label_text("1"), label_text(True), label_text(0.5)
        (('1', 'number'), ('1', 'string'), ('true', 'boolean'), (None, None))
    """
    if isinstance(value, str):
        return value, "string"
    if isinstance(value, bool):
        return str(value).lower(), "boolean"
    if isinstance(value, int):
        return str(value), "number"
    return None, None
