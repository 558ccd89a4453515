"""A look at the first rows says what is there, or what is wrong, without reading it all."""

import random
import time
from pathlib import Path

import pytest

from elman.config import DatasetConfig
from elman.data.inspection import SourceView, inspect
from elman.errors import DataError, LabelError


def settings(path: Path, **changed: object) -> DatasetConfig:
    return DatasetConfig.model_validate(
        {"path": str(path), "tasks": ("classifier",), "label_column": "label", **changed}
    )


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    return path


def test_view_names_format_encoding_split_labels_and_first_text(tmp_path: Path) -> None:
    write(tmp_path / "train.csv", [("good film", "pos"), ("bad film", "neg"), ("", "neg")])
    write(tmp_path / "test.csv", [("fine film", "pos")])
    (tmp_path / "README.md").write_text("about")
    found = inspect(dataset=settings(tmp_path))
    assert found.sources == (
        SourceView(
            name="train.csv",
            format="csv",
            encoding="utf-8",
            split="train",
            rows_seen=3,
            complete=True,
            rejected={"empty": 1},
            first_text="'good film'",
        ),
        SourceView(
            name="test.csv",
            format="csv",
            encoding="utf-8",
            split="test",
            rows_seen=1,
            complete=True,
            rejected={},
            first_text="'fine film'",
        ),
    )
    assert found.own_splits == ("test", "train")
    assert (found.valid_fraction, found.test_fraction) == (0.1, 0.0)
    assert found.labels == {"pos": 2, "neg": 1}
    assert found.ignored_files == ("README.md",)


def test_only_the_first_rows_of_a_large_file_are_read(tmp_path: Path) -> None:
    numbers = random.Random(1)
    path = write(tmp_path / "a.csv", [(f"film {numbers.random()}", "xy"[i % 2]) for i in range(400_000)])
    start = time.process_time()
    found = inspect(dataset=settings(path), rows=50)
    assert time.process_time() - start < 0.5
    assert (found.sources[0].rows_seen, found.sources[0].complete) == (50, False)
    assert found.labels == {"x": 25, "y": 25}


def test_unknown_label_is_named_where_train_was_read_whole(tmp_path: Path) -> None:
    write(tmp_path / "train.csv", [("a", "x"), ("b", "y")])
    write(tmp_path / "test.csv", [("c", "z")])
    with pytest.raises(LabelError, match=r"'z' stands in test \(test\.csv row 1\) but not in train"):
        inspect(dataset=settings(tmp_path))


def test_unknown_label_is_no_fault_while_train_was_not_read_whole(tmp_path: Path) -> None:
    write(tmp_path / "train.csv", [("a", "x"), ("b", "y"), ("c", "z")])
    write(tmp_path / "test.csv", [("d", "z")])
    assert inspect(dataset=settings(tmp_path), rows=2).labels == {"x": 1, "y": 1, "z": 1}


def test_space_around_a_label_is_named_for_hash_splits_too(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", [("a", "x"), ("b", "x ")])
    with pytest.raises(LabelError, match=r"'x ' \(a\.csv row 2\) has white space around it"):
        inspect(dataset=settings(path))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"label_column": "lable"}, "did you mean 'label'"),
        ({"text_column": "review"}, "there is no column 'review'"),
        ({"encoding": "utf-99"}, "not a text encoding"),
    ],
)
def test_wrong_setting_is_named(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    path = write(tmp_path / "a.csv", [("a", "x"), ("b", "y")])
    with pytest.raises(DataError, match=message):
        inspect(dataset=settings(path, **changed))


def test_source_without_a_usable_row_is_refused_with_the_first_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,b,c\nd\n")
    with pytest.raises(DataError, match=r"none of its first 2 rows can be used .*field_count line 2: 3 fields"):
        inspect(dataset=settings(path))
