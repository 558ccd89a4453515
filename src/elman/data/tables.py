"""The prepared tables: their columns, and writers that hold about 8 MB of text at a time."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elman.artifacts import TableWriter, read_batches
from elman.data.reading.rows import RawRow

PREPARED_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),  # 0 to n - 1 in the split
        ("text", pa.string()),
        ("label", pa.string()),
        ("source", pa.string()),
        ("source_row", pa.int64()),
    ]
)
REJECTS_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("source_row", pa.int64()),
        ("split", pa.string()),
        ("reason", pa.string()),
        ("detail", pa.string()),
    ]
)
LEAKS_SCHEMA = pa.schema(
    [
        ("split", pa.string()),
        ("source", pa.string()),
        ("source_row", pa.int64()),
        ("kind", pa.string()),  # exact or near
        ("similarity", pa.float64()),  # share of words in common (Jaccard); 1 for exact
        ("train_source", pa.string()),
        ("train_source_row", pa.int64()),
        ("first_words", pa.string()),
    ]
)
_MAX_ROWS = 8_192
_MAX_CHARACTERS = 1 << 23


class RowBuffer:
    """Collects rows for a table and writes them in batches."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._names = schema.names
        self._writer = TableWriter(path, schema)
        self._rows: list[tuple[Any, ...]] = []
        self._characters = 0
        self.num_rows = 0

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def append(self, *values: Any, size: int = 0) -> None:
        """Adds a row; `size` is its number of characters."""
        self._rows.append(values)
        self._characters += size
        self.num_rows += 1
        if len(self._rows) >= _MAX_ROWS or self._characters >= _MAX_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write(dict(zip(self._names, map(list, zip(*self._rows, strict=True)), strict=True)))
        self._rows, self._characters = [], 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._writer.__exit__(kind, error, traceback)


class Rejects:
    """The rejected rows: written down one by one, counted by reason, a few of each kept for a message."""

    _KEPT = 3

    def __init__(self, buffer: RowBuffer) -> None:
        self._buffer = buffer
        self.by_reason: Counter[str] = Counter()
        self.first: dict[str, list[str]] = {}
        self.excused = 0  # rejected rows that are no fault of the data: blank lines, duplicates

    def add(self, row: RawRow, reason: str, detail: str, *, split: str | None, excused: bool = False) -> None:
        """Writes down one rejected row."""
        self._buffer.append(row.source, row.number, split, reason, _encodable(detail))
        self.by_reason[reason] += 1
        self.excused += excused
        first = self.first.setdefault(reason, [])
        if len(first) < self._KEPT:
            first.append(f"{row.source} row {row.number}" + (f": {detail}" if detail else ""))

    @property
    def total(self) -> int:
        """All rejected rows."""
        return sum(self.by_reason.values())


def copy_without(
    source: Path, target: Path, drop: npt.NDArray[np.bool_], *, dropped: Callable[[int, dict[str, Any]], None]
) -> None:
    """Writes a prepared table again without some of its rows; ids are numbered anew.

    Args:
        source: A prepared table.
        target: Where the rest goes.
        drop: Which rows go; bool (rows,).
        dropped: Called with the old number and the columns of each row that goes.
    """
    start, written = 0, 0
    with TableWriter(target, PREPARED_SCHEMA) as writer:
        for batch in read_batches(source, batch_rows=_MAX_ROWS):
            mask = drop[start : start + len(batch)]
            for number, row in zip(start + np.flatnonzero(mask), batch.filter(pa.array(mask)).to_pylist(), strict=True):
                dropped(int(number), row)
            start += len(batch)
            kept = batch.filter(pa.array(~mask))
            columns = {name: kept.column(name) for name in PREPARED_SCHEMA.names}
            columns["id"] = pa.array(np.arange(written, written + len(kept), dtype=np.int64))
            if len(kept):
                writer.write(columns)
            written += len(kept)


def rows_at(path: Path, numbers: Sequence[int], *, columns: list[str]) -> dict[int, dict[str, Any]]:
    """Some rows of a table, keyed by their place in it; the table is streamed, only these rows stay in memory."""
    wanted = np.unique(np.asarray(numbers, dtype=np.int64))
    found: dict[int, dict[str, Any]] = {}
    start = 0
    for batch in read_batches(path, columns=columns, batch_rows=_MAX_ROWS) if len(wanted) else ():
        here = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, start + len(batch))]
        found.update(zip(here.tolist(), batch.take(pa.array(here - start)).to_pylist(), strict=True))
        start += len(batch)
    return found


def _encodable(text: str) -> str:
    """A detail as UTF-8 can hold it; half a surrogate pair is shown by its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
