"""Parquet, streamed: a text column, and a label column of strings, whole numbers or truth values."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from elman.data.reading.jsonl_rows import label_text
from elman.data.reading.rows import Columns, RawRow, missing_column, shown, split_name
from elman.errors import DataError

_BATCH_ROWS = 1_024


def read_parquet(path: Path, *, columns: Columns, source: str) -> Iterator[RawRow]:
    """Rows of a Parquet file; memory holds a batch, whatever the size of a row group.

    Raises:
        DataError: The file is damaged, or a column is missing or of a type that cannot be used.
    """
    try:
        # Without pre_buffer and with a buffer, pages are read when they are needed, not a row group at a time.
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            check_columns(file.schema_arrow, columns=columns, source=source)
            names = [name for name in columns if name is not None]
            number = 0
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=names):
                values = [batch.column(name).to_pylist() if name else [None] * len(batch) for name in columns]
                for text, label, split in zip(*values, strict=True):
                    number += 1
                    yield _row(text, label, split, number, columns=columns, source=source)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{source}: not a readable Parquet file: {error}") from None


def check_columns(schema: pa.Schema, *, columns: Columns, source: str) -> None:
    """Refuses a schema that lacks a column, or stores it in a way that is neither text nor a label.

    Raises:
        DataError: See above.
    """
    for name, setting in zip(columns, ("text_column", "label_column", "split_column"), strict=True):
        if name is None:
            continue
        if name not in schema.names:
            raise missing_column(name, setting=setting, found=schema.names, source=source)
        kind = schema.field(name).type
        value = kind.value_type if pa.types.is_dictionary(kind) else kind
        text = pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)
        whole = pa.types.is_integer(value) or pa.types.is_boolean(value)
        if not text and not (setting == "label_column" and whole):
            allowed = "string" if setting != "label_column" else "string, integer or boolean"
            raise DataError(f"{source}: the column {name!r} has the type {kind}; dataset.{setting} needs {allowed}")


def _row(text: str | None, label: object, split: str | None, number: int, *, columns: Columns, source: str) -> RawRow:
    if text is None:
        return RawRow(source, number, reason="missing_text", detail=f"{columns.text!r} is null")
    own = None if split is None else split_name(split)
    if columns.split is not None and own is None:
        given = "null" if split is None else shown(split)
        return RawRow(source, number, reason="unknown_split", detail=f"{given} is not train, valid or test")
    name, label_type = label_text(label)
    return RawRow(source, number, text, name, own, label_type=label_type)
