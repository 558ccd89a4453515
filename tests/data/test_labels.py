"""Labels: two ways to write one are refused with their rows, and a number once given stays."""

from pathlib import Path

import pytest

from elman.artifacts import write_json
from elman.data.labels import LabelCounter, label_map
from elman.data.reading.rows import RawRow
from elman.errors import ArtifactError, LabelError


def counter(**splits: list[str | tuple[str, str]]) -> LabelCounter:
    """Labels by split; a pair is a label with the type under which it is stored."""
    labels = LabelCounter(label_column="sentiment")
    for split, names in splits.items():
        for number, name in enumerate(names, start=1):
            label, kind = name if isinstance(name, tuple) else (name, None)
            labels.add(RawRow(f"{split}.csv", number, "text", label, label_type=kind), split=split)
    return labels


def test_all_faults_are_named_at_once_with_rows_and_labels() -> None:
    labels = counter(train=["pos", "neg"], valid=["neg"], test=["pos", "neg ", "neutral", "1"])
    with pytest.raises(LabelError) as caught:
        labels.check(classifier=True)
    for part in (
        "'sentiment'",
        "'neg ' (test.csv row 2) has white space around it",
        "'neutral' stands in test (test.csv row 3) but not in train",
        "'1' stands in test (test.csv row 4) but not in train",
    ):
        assert part in str(caught.value)


def test_number_beside_string_is_refused_with_the_rows_of_both() -> None:
    labels = counter(train=[("1", "string"), ("0", "number"), ("1", "number")], test=[("1", "string")])
    with pytest.raises(
        LabelError, match=r"'1' is stored as number in train\.csv row 3 and as string in train\.csv row 1"
    ):
        labels.check_spelling()


def test_labels_that_look_alike_are_refused() -> None:
    labels = counter(train=["caf\u00e9", "cafe\u0301", "a  b", "a b"])
    with pytest.raises(LabelError) as caught:
        labels.check_spelling()
    assert r"written in two ways: 'cafe\u0301' (train.csv row 2), 'caf\xe9' (train.csv row 1)" in str(caught.value)
    assert "written in two ways: 'a  b' (train.csv row 3), 'a b' (train.csv row 4)" in str(caught.value)


def test_case_tells_labels_apart_since_it_can_be_meant() -> None:
    counter(train=["us", "US"], test=["US"]).check(classifier=True)


@pytest.mark.parametrize("names", [[], ["only", "only"]])
def test_classifier_needs_two_labels(names: list[str]) -> None:
    labels = counter(train=list(names))
    labels.check(classifier=False)
    with pytest.raises(LabelError, match="two or more"):
        labels.check(classifier=True)


def test_label_that_leaves_train_with_its_last_row_is_unknown() -> None:
    labels = counter(train=["a", "b", "c"], test=["c"])
    labels.check(classifier=True)
    labels.removed("c", split="train")
    with pytest.raises(LabelError, match="'c' stands in test"):
        labels.check(classifier=True)


def test_column_of_texts_is_not_taken_for_one_of_labels() -> None:
    labels = LabelCounter(label_column="review")
    with pytest.raises(LabelError, match=r"over 10,000 .* the last in a\.csv row 10001"):
        for number in range(1, 20_000):
            labels.add(RawRow("a.csv", number, "text", f"text {number}"), split="train")


def test_long_lists_of_faults_are_cut() -> None:
    labels = counter(train=["a", "b"], test=[f"new {i}" for i in range(50)])
    with pytest.raises(LabelError, match=r"\.\.\. and 30 more"):
        labels.check(classifier=True)


def test_table_counts_each_label_in_each_split() -> None:
    labels = counter(train=["b", "a", "b"], test=["a"])
    assert labels.table() == [
        {"label": "a", "train": 1, "valid": 0, "test": 1},
        {"label": "b", "train": 2, "valid": 0, "test": 0},
    ]


def update(path: Path, found: list[str], *, dataset: str = "reviews", column: str | None = "label") -> list[str]:
    content = label_map(path, dataset=dataset, label_column=column, found=found)
    write_json(path, content)
    return content["labels"]


def test_old_labels_keep_their_numbers_when_a_class_appears(tmp_path: Path) -> None:
    """Guards against scikit-learn/scikit-learn#18961: sorting anew moved all numbers by one."""
    path = tmp_path / "labels.json"
    assert update(path, ["c", "b"]) == ["b", "c"]
    assert update(path, ["a", "b", "c", "0"]) == ["b", "c", "0", "a"]
    assert update(path, ["a"]) == ["b", "c", "0", "a"]


def test_another_data_set_or_column_starts_a_new_map(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    update(path, ["b", "c"])
    assert update(path, ["a"], dataset="other") == ["a"]
    assert update(path, ["z"], dataset="other", column="topic") == ["z"]
    assert update(path, [], dataset="other", column=None) == []


def test_map_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    write_json(path, {"version": 2, "names": ["a"]})
    with pytest.raises(ArtifactError, match="not a label map of version 1"):
        update(path, ["a"])
