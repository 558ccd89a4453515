"""Reads any source: picks the reader for its format and settles its encoding."""

from collections.abc import Iterator

from elman.data.reading.delimited_rows import read_csv, read_tsv
from elman.data.reading.detection import detect_encoding
from elman.data.reading.encoding import codec_name, read_lines
from elman.data.reading.jsonl_rows import read_jsonl
from elman.data.reading.parquet_rows import read_parquet
from elman.data.reading.rows import Columns, RawRow
from elman.data.reading.sources import Source
from elman.data.reading.text_rows import documents, read_blocks, read_folder, read_lines_format
from elman.errors import DataError


def resolve_encoding(source: Source, encoding: str) -> str:
    """The codec that a source is read with.

    Args:
        source: What is read.
        encoding: A Python codec, or auto.

    Raises:
        DataError: There is no such codec, or detection fails.
    """
    if source.format == "parquet":
        return "utf-8"  # Parquet's own
    if encoding != "auto":
        return codec_name(encoding)
    paths = documents(source.path) if source.format == "folders" else [source.path]
    return detect_encoding(paths, name=source.name)


def read_rows(source: Source, *, columns: Columns, encoding: str, errors: str = "strict") -> Iterator[RawRow]:
    """Streams the raw rows of a source; those that cannot be used say why.

    Args:
        source: What is read.
        columns: Names of the columns; the label is ignored by lines and blocks, which hold none.
        encoding: A codec from `resolve_encoding`.
        errors: What becomes of a byte that does not decode, where the format has lines; see `read_lines`.

    Raises:
        DataError: The source as a whole cannot be used: a column is missing, a byte does not decode.
    """
    if source.format == "parquet":
        return read_parquet(source.path, columns=columns, source=source.name)
    if source.format == "folders":
        label = None if columns.label is None else source.label
        return read_folder(source.path, label=label, encoding=encoding, source=source.name)
    lines = read_lines(source.path, encoding=encoding, name=source.name, errors=errors)
    match source.format:
        case "csv":
            return read_csv(lines, columns=columns, source=source.name)
        case "tsv":
            return read_tsv(lines, columns=columns, source=source.name)
        case "jsonl":
            return read_jsonl(lines, columns=columns, source=source.name)
        case "blocks":
            return read_blocks(lines, source=source.name)
        case "lines":
            return read_lines_format(lines, source=source.name)
    raise DataError(f"{source.name}: unknown format {source.format!r}")
