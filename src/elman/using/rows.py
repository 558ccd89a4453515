"""Rows that a command reads: from its arguments, a file or standard input."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from elman.data.reading.encoding import codec_name, lines_as_they_come, open_bytes
from elman.data.reading.reader import read_rows, resolve_encoding
from elman.data.reading.rows import Columns, RawRow
from elman.data.reading.sources import FORMATS_BY_SUFFIX, Source
from elman.errors import DataError
from elman.storage import can_exist
from elman.using.texts import PAUSE, Pause, Refused

PAUSE_ROW = RawRow("", 0)  # among rows what PAUSE is among texts
# A byte that does not decode makes its row unusable and stops no other one.
_ERRORS = "surrogateescape"
# The readers advise what to set in params.yaml; options of the command take its place here.
_ADVICE = {
    "Set dataset.text_column in params.yaml": "Name it with --column",
    "dataset.text_column needs": "--column needs",
    "set dataset.encoding in params.yaml to": "set --encoding to",
    "set dataset.encoding to": "set --encoding to",
    "the file's codec (for example latin-1), or to auto": "the text's codec, for example latin-1",
    "; set dataset.format": "",
    "dataset.encoding:": "--encoding:",
}


def rows_of_texts(texts: Iterable[str]) -> Iterator[RawRow]:
    """The arguments of a command, a row each."""
    for number, text in enumerate(texts, start=1):
        yield RawRow("arguments", number, text)


def rows_of_stream(stream: IO[bytes], *, encoding: str, name: str = "standard input") -> Iterator[RawRow]:
    """Standard input or a pipe: a document a line, and `PAUSE_ROW` wherever no more has come yet.

    Raises:
        DataError: There is no such codec, a byte order mark names another one, or it cannot read on after a byte that
            does not decode.
    """
    number = 0
    try:
        for line in lines_as_they_come(stream, encoding=codec_name(encoding), name=name, errors=_ERRORS):
            if line is None:
                yield PAUSE_ROW
                continue
            number += 1
            yield RawRow(name, number, line)
    except UnicodeError as error:
        raise DataError(_not_in(encoding, error, name=name)) from None
    except DataError as error:
        raise DataError(_advice(str(error))) from None


def rows_of_file(path: Path, *, column: str, encoding: str) -> Iterator[RawRow]:
    """A file, by its suffix as in a data set; one without a known suffix has a document a line.

    Blank lines of a JSON lines file are left out; they count in the numbers of the rows. A pipe of lines, such as a
    shell's `<(...)`, is read as it comes.

    Args:
        path: The file.
        column: Where the text is, for csv, tsv, jsonl and parquet.
        encoding: A Python codec, or auto.

    Raises:
        DataError: The file is missing or cannot be read as a whole.
    """
    if not can_exist(path) or not path.exists():
        raise DataError(f"{path}: no such file")
    if path.is_dir():
        raise DataError(f"{path}: a folder; name a file")
    if not path.is_file() and _format(path) == "lines":
        with path.open("rb") as stream:
            yield from rows_of_stream(stream, encoding=encoding, name=str(path))
        return
    source = Source(path=path, name=str(path), format=_format(path))
    try:
        codec = resolve_encoding(source, encoding)
        for row in read_rows(source, columns=Columns(text=column), encoding=codec, errors=_ERRORS):
            if row.reason != "blank_line":
                yield row
    except UnicodeError as error:
        raise DataError(_not_in(encoding, error, name=str(path))) from None
    except DataError as error:
        raise DataError(_advice(str(error))) from None


def count_rows(path: Path) -> int | None:
    """How many rows a file has, for a progress bar; None where only reading it would tell."""
    if path.suffix == ".gz" or not path.is_file() or _format(path) not in ("lines", "jsonl"):
        return None
    with open_bytes(path) as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def text_of(row: RawRow) -> "str | Refused | Pause":
    """What a model is given of a row."""
    if row is PAUSE_ROW:
        return PAUSE
    if row.reason is None and row.text is not None:
        return row.text
    reason = (row.reason or "missing_text").replace("_", " ")
    return Refused(f"{reason}: {row.detail}" if row.detail else reason)


def _format(path: Path) -> str:
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix == ".json":
        raise DataError(f"{path}: no text a line; with a JSON object a line its name has to end in .jsonl")
    return FORMATS_BY_SUFFIX.get(suffix, "lines")


def _not_in(encoding: str, error: UnicodeError, *, name: str) -> str:
    return f"{name}: not {encoding}: {getattr(error, 'reason', error)}; set --encoding"


def _advice(message: str) -> str:
    for about_params, about_options in _ADVICE.items():
        message = message.replace(about_params, about_options)
    return message
