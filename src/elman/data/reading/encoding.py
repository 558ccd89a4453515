"""From bytes to lines of text: any codec, BOM and CRLF taken off, and an exact place for a byte that does not fit."""

import codecs
import gzip
import io
import select
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from elman.errors import DataError

MAX_LINE = 1 << 26  # characters; a longer line is a file in another format, and would fill the memory
_CHUNK = 1 << 20  # bytes
_PATIENCE = 0.002  # seconds: how long a pipe may take to be filled again before it counts as waiting
_MEND = "set dataset.encoding in params.yaml to the file's codec (for example latin-1), or to auto"
_BOMS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
         codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip


def open_bytes(path: Path) -> IO[bytes]:
    """Opens a file for reading bytes; one that ends in .gz is unpacked on the way."""
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def codec_name(encoding: str) -> str:
    """The codec that reads `encoding`; UTF-8 becomes the variant that takes a BOM off.

    Raises:
        DataError: Python has no text codec of this name.
    """
    try:
        codec = codecs.lookup(encoding)
        "".encode(encoding)
    except LookupError:
        raise DataError(f"dataset.encoding: {encoding!r} is not a text encoding of Python; {_MEND}") from None
    return "utf-8-sig" if codec.name == "utf-8" else codec.name


def shown_codec(codec: str) -> str:
    """A codec as a person names it: whether a BOM is taken off is no business of theirs."""
    return codec.removesuffix("-sig")


def bom_encoding(path: Path) -> str | None:
    """The encoding that the file's first bytes name by a UTF-16 or UTF-32 byte order mark."""
    with open_bytes(path) as file:
        return _encoding_by_bom(file.read(4))


def _encoding_by_bom(start: bytes) -> str | None:
    return next((name for bom, name in _BOMS.items() if start.startswith(bom)), None)


def read_lines(path: Path, *, encoding: str, name: str, errors: str = "strict") -> Iterator[str]:
    r"""Yields lines without their ends; an end is \n or \r\n and nothing else.

    `str.splitlines` would also end a line at a form feed or U+2028, which are text here.

    Args:
        path: The file, plain or .gz.
        encoding: A codec, from `codec_name`.
        name: What errors call the file.
        errors: "surrogateescape" leaves a byte that does not decode in its line, as half of a surrogate pair.

    Raises:
        DataError: A byte does not decode, a line is longer than `MAX_LINE`, or the file cannot be read.
    """
    try:
        if errors != "strict" and path.is_file():  # else every byte would decode somehow
            with open_bytes(path) as file:
                _refuse_other_bom(file.read(4), encoding=encoding, name=name)
        yield from split_lines(open_bytes(path), encoding=encoding, name=name, errors=errors)
    except UnicodeDecodeError:
        raise undecodable(path, encoding=encoding, name=name) from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: cannot be read: {error}") from None


def split_lines(stream: IO[bytes], *, encoding: str, name: str, errors: str = "strict") -> Iterator[str]:
    """The lines of an open stream, which is closed at its end; see `read_lines`.

    Raises:
        DataError: A line is longer than `MAX_LINE`.
        UnicodeDecodeError: A byte does not decode.
    """
    with io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline="\n") as file:
        number = 0
        while line := file.readline(MAX_LINE):
            number += 1
            if line.endswith("\n"):
                yield line[:-2] if line.endswith("\r\n") else line[:-1]
            elif len(line) == MAX_LINE:
                raise DataError(f"{name}: line {number} has over {MAX_LINE:,} characters; set dataset.format")
            else:
                _refuse_lone_returns(line, number=number, name=name)
                yield line.removesuffix("\r")


def lines_as_they_come(stream: IO[bytes], *, encoding: str, name: str, errors: str = "strict") -> Iterator[str | None]:
    """As `split_lines`; None stands wherever no more has come yet, so that asking on would wait.

    Raises:
        DataError: A line is longer than `MAX_LINE`, or a byte order mark names another encoding.
        UnicodeDecodeError: A byte does not decode.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    number, held = 0, ""
    data = stream.read1(_CHUNK)  # type: ignore[attr-defined]
    _refuse_other_bom(data, encoding=encoding, name=name)
    while data:
        *lines, held = (held + decoder.decode(data)).split("\n")
        for line in lines:
            number += 1
            yield line.removesuffix("\r")
        if len(held) > MAX_LINE:
            raise DataError(f"{name}: line {number + 1} has over {MAX_LINE:,} characters; set dataset.format")
        if lines and not _more_has_come(stream):
            yield None
        data = stream.read1(_CHUNK)  # type: ignore[attr-defined]
    held += decoder.decode(b"", final=True)
    if held:
        _refuse_lone_returns(held, number=number + 1, name=name)
        yield held.removesuffix("\r")


def _more_has_come(stream: IO[bytes]) -> bool:
    """Whether reading would not wait; true of what is no file of the system, and of its end."""
    try:
        return bool(select.select([stream.fileno()], [], [], _PATIENCE)[0])
    except (OSError, ValueError):
        return True


def _refuse_other_bom(start: bytes, *, encoding: str, name: str) -> None:
    """A text of UTF-16 that is read as UTF-8 would be NULs and half of its characters."""
    hint = _encoding_by_bom(start)
    if hint and encoding == "utf-8-sig":
        raise DataError(f"{name}: starts as {hint} does: set dataset.encoding to {hint}")


def read_document(path: Path, *, encoding: str, name: str) -> str:
    """A whole file as one text.

    Raises:
        DataError: A byte does not decode, or the file cannot be read.
    """
    try:
        with open_bytes(path) as file:
            return file.read().decode(encoding)
    except UnicodeDecodeError:
        raise undecodable(path, encoding=encoding, name=name) from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: cannot be read: {error}") from None


def undecodable(path: Path, *, encoding: str, name: str) -> DataError:
    """The error that names line and byte offset of the first bytes that `encoding` cannot read."""
    codec = shown_codec(encoding)  # for UTF-8 the one that leaves a BOM in, since it counts in the offset
    decoder = codecs.getincrementaldecoder(codec)()
    offset, line = 0, 1
    hint = bom_encoding(path)
    mend = f"the file starts as {hint} does: set dataset.encoding to {hint}" if hint else _MEND
    with open_bytes(path) as file:
        while True:
            chunk = file.read(_CHUNK)
            held = len(decoder.getstate()[0])  # bytes of a character that the last chunk cut
            try:
                line += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeDecodeError as error:
                line += error.object[: error.start].decode(codec, "ignore").count("\n")
                at = offset - held + error.start
                bad = error.object[error.start : error.end].hex(" ")
                return DataError(f"{name}: line {line}: byte {at} ({bad}) is not {codec}: {error.reason}; {mend}")
            if not chunk:
                return DataError(f"{name}: not {codec}; {mend}")
            offset += len(chunk)


def _refuse_lone_returns(line: str, *, number: int, name: str) -> None:
    """A file of old Mac line ends (carriage return alone) would be read as a single line."""
    if number == 1 and "\r" in line.removesuffix("\r"):
        raise DataError(
            f"{name}: its lines end in a carriage return alone; change them to line feeds, for example with "
            "`tr '\\r' '\\n' < old > new`"
        )
