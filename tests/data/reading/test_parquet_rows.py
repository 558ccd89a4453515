"""Parquet: text columns of all string types, labels of the types that name classes."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elman.data.reading.parquet_rows import read_parquet
from elman.data.reading.rows import Columns, RawRow
from elman.errors import DataError

COLUMNS = Columns(text="text", label="label")


def write(tmp_path: Path, **columns: Any) -> Path:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def read(path: Path, columns: Columns = COLUMNS) -> list[RawRow]:
    return list(read_parquet(path, columns=columns, source="a.parquet"))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_text_of_any_string_type_is_exact(tmp_path: Path, kind: pa.DataType) -> None:
    texts = ["NA", "two\nlines", 'say "hi"', "é", None]
    path = write(tmp_path, text=pa.array(texts).cast(kind), label=["x", "y", "x", None, "y"])
    rows = read(path)
    assert [row.text for row in rows] == texts
    assert [row.label for row in rows] == ["x", "y", "x", None, None]
    assert [row.reason for row in rows] == [None, None, None, None, "missing_text"]
    assert [row.number for row in rows] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("labels", "read_as"),
    [([1, 0], [("1", "number"), ("0", "number")]), ([True, False], [("true", "boolean"), ("false", "boolean")])],
)
def test_labels_of_whole_numbers_and_truth_values_become_text(
    tmp_path: Path, labels: list[Any], read_as: list[tuple[str, str]]
) -> None:
    rows = read(write(tmp_path, text=["a", "b"], label=labels))
    assert [(row.label, row.label_type) for row in rows] == read_as


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": ["a"], "label": [0.5]}, "'label' has the type double; dataset.label_column needs string, integer"),
        ({"text": [1], "label": ["x"]}, "'text' has the type int64; dataset.text_column needs string"),
        ({"Text": ["a"], "label": ["x"]}, "there is no column 'text'; did you mean 'Text'"),
    ],
)
def test_column_of_another_type_or_name_is_refused(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(write(tmp_path, **columns))


def test_damaged_file_is_a_data_error(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"a\.parquet: not a readable Parquet file"):
        read(path)


def test_split_column_gives_the_split(tmp_path: Path) -> None:
    path = write(tmp_path, text=["a", "b", "c"], fold=["train", "test", "other"])
    rows = read(path, Columns(text="text", label=None, split="fold"))
    assert [(row.split, row.reason) for row in rows] == [("train", None), ("test", None), (None, "unknown_split")]
