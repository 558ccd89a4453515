"""Plain text: a document a line, blank lines between documents, or a folder of files for each class."""

from collections.abc import Iterator
from pathlib import Path

from elman.data.reading.encoding import read_document
from elman.data.reading.rows import RawRow


def read_lines_format(lines: Iterator[str], *, source: str) -> Iterator[RawRow]:
    """A document a line."""
    for number, line in enumerate(lines, start=1):
        yield RawRow(source, number, line)


def read_blocks(lines: Iterator[str], *, source: str) -> Iterator[RawRow]:
    """Documents with one or more blank lines (nothing but white space) between them."""
    block: list[str] = []
    number = 0
    for line in lines:
        if line and not line.isspace():
            block.append(line)
        elif block:
            number += 1
            yield RawRow(source, number, "\n".join(block))
            block = []
    if block:
        yield RawRow(source, number + 1, "\n".join(block))


def read_folder(folder: Path, *, label: str | None, encoding: str, source: str) -> Iterator[RawRow]:
    """A document a file, in the order of the files' names; sub-folders are part of it."""
    for path in documents(folder):
        name = f"{source}/{path.relative_to(folder).as_posix()}"
        yield RawRow(name, 1, read_document(path, encoding=encoding, name=name), label)


def documents(folder: Path) -> Iterator[Path]:
    """The files below a folder in sorted order, without hidden ones."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from documents(path)
        elif path.is_file():
            yield path
