"""The names of the columns that the raw data has, whether they are read or not."""

from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq

from elman.data.reading.dataset import Dataset
from elman.data.reading.delimited_rows import header_of
from elman.data.reading.encoding import read_lines
from elman.data.reading.jsonl_rows import keys_of
from elman.data.reading.sources import Source
from elman.errors import DataError

_HEAD = 1_000  # objects of a JSON lines file whose keys are its columns


def raw_columns(opened: Dataset) -> tuple[str, ...]:
    """The columns of all sources, each once, in the order in which they are met; empty for formats without any.

    Args:
        opened: From `open_dataset`.

    Raises:
        DataError: A source has no header or cannot be read.
    """
    names: dict[str, None] = {}
    for source in opened.sources.read:
        names.update(dict.fromkeys(_columns_of(source, encoding=opened.encodings[source.name])))
    return tuple(names)


def _columns_of(source: Source, *, encoding: str) -> list[str]:
    if source.format == "parquet":
        try:
            return list(pq.read_schema(source.path).names)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(f"{source.name}: not a readable Parquet file: {error}") from None
    if source.format not in ("csv", "tsv", "jsonl"):
        return []
    lines = read_lines(source.path, encoding=encoding, name=source.name)
    try:
        if source.format == "jsonl":
            return keys_of(list(islice(lines, _HEAD)))
        return header_of(lines, source=source.name, quoted=source.format == "csv")
    finally:
        lines.close()  # type: ignore[attr-defined]
