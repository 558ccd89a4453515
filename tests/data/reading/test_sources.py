"""Which files a path means, and the splits that their names give."""

from pathlib import Path

import pytest

from elman.data.reading.sources import Sources, find_sources
from elman.errors import DataError


def tree(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text,label\n")
    return root


def found(sources: Sources) -> list[tuple[str, str, str | None]]:
    return [(source.name, source.format, source.split) for source in sources.read]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("a.tsv", "tsv"),
        ("a.tab", "tsv"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.txt", "lines"),
        ("a.CSV", "csv"),
        ("a.csv.gz", "csv"),
        ("a.txt.gz", "lines"),
    ],
)
def test_suffix_gives_the_format(tmp_path: Path, name: str, format: str) -> None:
    tree(tmp_path, name)
    assert found(find_sources(tmp_path / name)) == [(name, format, None)]


def test_single_file_named_train_has_no_split_of_its_own(tmp_path: Path) -> None:
    tree(tmp_path, "train.csv", "test.csv")
    assert found(find_sources(tmp_path / "train.csv")) == [("train.csv", "csv", None)]


@pytest.mark.parametrize(
    "names",
    [
        ("train.csv", "valid.csv", "test.csv"),
        ("training.csv", "validation.csv", "testing.csv"),
        ("a_train.csv", "a-dev.csv", "a.test.csv"),
        ("TRAIN.csv", "Val.csv", "test-00000-of-00001.csv"),
    ],
)
def test_names_give_the_splits_in_the_order_train_valid_test(tmp_path: Path, names: tuple[str, ...]) -> None:
    tree(tmp_path, *names, "README.md", ".hidden.csv")
    sources = find_sources(tmp_path)
    assert found(sources) == list(zip(names, ["csv"] * 3, ["train", "valid", "test"], strict=True))
    assert sources.ignored == ("README.md",)


def test_folder_without_split_names_is_read_whole(tmp_path: Path) -> None:
    tree(tmp_path, "b.csv", "a.jsonl", "notes.md", "README.txt")
    sources = find_sources(tmp_path)
    assert found(sources) == [("a.jsonl", "jsonl", None), ("b.csv", "csv", None)]
    assert sources.ignored == ("README.txt", "notes.md")


def test_split_folders_may_hold_files_or_classes(tmp_path: Path) -> None:
    tree(tmp_path, "train/part-0.csv", "train/part-1.csv", "test/neg/1.txt", "test/pos/1.txt")
    sources = find_sources(tmp_path)
    assert found(sources) == [
        ("train/part-0.csv", "csv", "train"),
        ("train/part-1.csv", "csv", "train"),
        ("test/neg", "folders", "test"),
        ("test/pos", "folders", "test"),
    ]
    assert [source.label for source in sources.read] == [None, None, "neg", "pos"]


def test_class_folders_are_found_by_themselves_and_by_format(tmp_path: Path) -> None:
    tree(tmp_path, "neg/1.txt", "pos/sub/2.txt", ".git/x")
    for format in ("auto", "folders"):
        sources = find_sources(tmp_path, format=format)
        assert found(sources) == [("neg", "folders", None), ("pos", "folders", None)]


def test_settings_name_the_splits(tmp_path: Path) -> None:
    tree(tmp_path, "january.csv", "february.csv", "march.csv")
    sources = find_sources(tmp_path, splits={"train": "january.csv", "test": "march.csv"})
    assert found(sources) == [("january.csv", "csv", "train"), ("march.csv", "csv", "test")]


def test_format_may_be_given_for_unknown_suffixes(tmp_path: Path) -> None:
    tree(tmp_path, "TREC.train.all", "TREC.test.all")
    sources = find_sources(tmp_path, format="lines")
    assert found(sources) == [("TREC.train.all", "lines", "train"), ("TREC.test.all", "lines", "test")]


@pytest.mark.parametrize(
    ("names", "path", "message"),
    [
        (["reviews.csv"], "review.csv", r"no such file or folder; did you mean .*reviews\.csv\?"),
        (["a.doc"], "a.doc", r"the suffix does not tell the format; known are \.csv .*Set dataset\.format"),
        (["train.csv", "test.csv", "more.csv"], "", r"test\.csv, train\.csv say by their names .* more\.csv not"),
        (["notes.md"], "", "nothing to read"),
        ([], "reuters-r8", "not fetched yet; run `dvc repro`"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_to_do(
    tmp_path: Path, names: list[str], path: str, message: str
) -> None:
    tree(tmp_path, *names)
    with pytest.raises(DataError, match=message):
        find_sources(tmp_path / path)


def test_named_split_that_is_missing_gets_the_nearest_name(tmp_path: Path) -> None:
    tree(tmp_path, "jan.csv")
    with pytest.raises(
        DataError, match=r"jna\.csv: no such file or folder; did you mean jan\.csv\? Set dataset\.train"
    ):
        find_sources(tmp_path, splits={"train": "jna.csv"})
    with pytest.raises(DataError, match=r"dataset\.train names a file inside dataset\.path, which is not a folder"):
        find_sources(tmp_path / "jan.csv", splits={"train": "jan.csv"})
