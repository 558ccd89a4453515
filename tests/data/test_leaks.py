"""Documents of valid and test that stand in train: the pipeline stops, and says which rows."""

import random
from pathlib import Path

import pytest

from elman.artifacts import read_table
from elman.config import DatasetConfig, PrepareConfig
from elman.data import leaks
from elman.data.prepare import prepare
from elman.errors import LeakageError
from tests.helpers.documents_alike import changed, document
from tests.helpers.prepared_files import Prepare

R8 = Path(__file__).parents[2] / "data" / "raw" / "reuters-r8"
NUM_TRAIN, NUM_TEST = 300, 200


def lines(texts: list[list[str]]) -> str:
    return "".join(" ".join(text) + "\n" for text in texts)


def files(*, planted: int, words_changed: int = 0) -> dict[str, str]:
    """Own splits; train ends with copies of test's first documents in reverse order, in upper case."""
    words = random.Random(planted)
    train, valid, test = ([document(words, length=60) for _ in range(number)] for number in (NUM_TRAIN, 50, NUM_TEST))
    copies = [changed(words, text, times=words_changed) for text in reversed(test[:planted])]
    return {"train.txt": lines(train) + lines(copies).upper(), "valid.txt": lines(valid), "test.txt": lines(test)}


def test_a_copy_of_5_percent_of_test_in_train_stops_with_the_rows_named(prepare_files: Prepare, tmp_path: Path) -> None:
    with pytest.raises(LeakageError) as caught:
        prepare_files(files(planted=10))
    message = str(caught.value)
    assert "5.0 % of the 200 documents of test stand in train too: 10 exactly, 0 nearly." in message
    for row in range(1, 6):
        assert f"test.txt row {row} and train.txt row {NUM_TRAIN + 11 - row} (exact): 'w" in message
    assert "prepare.max_leaked_fraction = 0.025" in message
    assert "leaks.parquet" in message
    assert "valid" not in message.replace("invalid", "")


def test_a_copy_with_a_few_words_changed_stops_with_the_rows_named(prepare_files: Prepare) -> None:
    with pytest.raises(LeakageError) as caught:
        prepare_files(files(planted=10, words_changed=3))
    assert "10 nearly" in str(caught.value)
    assert f"test.txt row 2 and train.txt row {NUM_TRAIN + 9} (near, similarity 0.90): 'w" in str(caught.value)


def test_a_leak_into_train_from_valid_stops_too(prepare_files: Prepare) -> None:
    content = files(planted=0)
    content["train.txt"] += "".join(content["valid.txt"].splitlines(keepends=True)[7:9])
    with pytest.raises(
        LeakageError, match=r"4\.0 % of the 50 documents of valid .*\n.*valid\.txt row 8 and train\.txt"
    ):
        prepare_files(content)


def test_what_stopped_is_listed_whole_and_nothing_else_is_written(prepare_files: Prepare, tmp_path: Path) -> None:
    with pytest.raises(LeakageError):
        prepare_files(files(planted=10))
    assert [path.name for path in (tmp_path / "prepared").iterdir()] == ["leaks.parquet"]
    rows = read_table(tmp_path / "prepared" / "leaks.parquet").to_pylist()
    found = [(row["source_row"], row["train_source_row"], row["kind"], row["similarity"]) for row in rows]
    assert found == [(row, NUM_TRAIN + 11 - row, "exact", 1.0) for row in range(1, 11)]


def test_the_setting_allows_it_and_the_summary_says_how_much(prepare_files: Prepare) -> None:
    done = prepare_files(files(planted=10), max_leaked_fraction=0.05)
    assert done.summary["overlap_with_train"] == {
        "valid": {"exact": 0, "near": 0, "checked": 50, "share": 0.0},
        "test": {"exact": 10, "near": 0, "checked": 200, "share": 0.05},
    }
    assert done.summary["removed_repeats"]["train"] == 10
    assert len(done.rows("leaks")) == 10


def test_copies_that_stay_in_train_are_exact_ones_and_not_near_ones_too(prepare_files: Prepare) -> None:
    done = prepare_files(files(planted=10), repeats="keep", max_leaked_fraction=1.0)
    overlap = done.summary["overlap_with_train"]["test"]
    assert (overlap["exact"], overlap["near"], overlap["share"]) == (10, 0, 0.05)


def test_a_document_with_an_exact_and_a_near_copy_is_one_document(prepare_files: Prepare) -> None:
    content = files(planted=10)
    first = content["test.txt"].splitlines()[3]
    content["train.txt"] += first.replace(first.split()[5], "another") + "\n"
    done = prepare_files(content, max_leaked_fraction=0.05)
    overlap = done.summary["overlap_with_train"]["test"]
    assert (overlap["exact"], overlap["near"], overlap["share"]) == (10, 1, 0.05)
    assert [row["kind"] for row in done.rows("leaks") if row["source_row"] == 4] == ["exact", "near"]


@pytest.mark.parametrize("planted", [0, 4])
def test_what_real_collections_repeat_passes(prepare_files: Prepare, planted: int) -> None:
    done = prepare_files(files(planted=planted))
    assert done.summary["overlap_with_train"]["test"]["share"] == planted / NUM_TEST


def test_a_test_split_that_train_holds_wholly_is_called_a_leak(prepare_files: Prepare) -> None:
    content = files(planted=0)
    with pytest.raises(LeakageError, match=r"100\.0 % of the 200 documents of test"):
        prepare_files({**content, "train.txt": content["test.txt"]})


def test_splits_by_hash_share_no_document_exactly(prepare_files: Prepare) -> None:
    words = random.Random(6)
    texts = [document(words, length=words.randint(1, 3), num_words=40) for _ in range(500)]
    content = lines(texts) + lines(texts[:250]).upper()
    done = prepare_files({"a.txt": content}, max_leaked_fraction=0.0)
    assert all(overlap["exact"] == 0 for overlap in done.summary["overlap_with_train"].values())
    assert sum(counts["repeated_inside"] for counts in done.summary["splits"].values()) >= 250


def test_the_list_is_bounded_and_the_counts_are_not(prepare_files: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "MAX_LISTED", 4)
    done = prepare_files(files(planted=10), max_leaked_fraction=1.0)
    assert done.summary["overlap_with_train"]["test"]["exact"] == 10
    assert [row["source_row"] for row in done.rows("leaks")] == [1, 2, 3, 4]


@pytest.mark.skipif(not R8.exists(), reason="R8 is not fetched here; `dvc repro` does it")
def test_r8_holds_few_copies_and_passes(tmp_path: Path) -> None:
    dataset = DatasetConfig(path=str(R8), tasks=("classifier",), label_column="label")
    overlap = prepare(dataset=dataset, cleaning=PrepareConfig(), out=tmp_path)["overlap_with_train"]
    assert {split: (found["exact"], found["near"]) for split, found in overlap.items()} == {
        "valid": (0, 5),
        "test": (2, 5),
    }


def test_rows_of_valid_are_named_right_after_repeats_left_it(prepare_files: Prepare) -> None:
    content = files(planted=0)
    valid = content["valid.txt"].splitlines()
    valid[0] = content["test.txt"].splitlines()[9]
    content["valid.txt"] = "\n".join(valid)
    content["train.txt"] += valid[30].replace(valid[30].split()[8], "another") + "\n"
    done = prepare_files(content)
    assert done.summary["removed_repeats"]["valid"] == 1
    assert [(row["split"], row["source_row"], row["train_source_row"]) for row in done.rows("leaks")] == [
        ("valid", 31, NUM_TRAIN + 1)
    ]
