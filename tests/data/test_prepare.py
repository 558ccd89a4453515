"""The prepare stage as a whole: every row is accounted for, and no split holds another's documents."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elman.errors import DataError, LabelError
from tests.helpers.prepared_files import Prepare, reviews


def csv_of(rows: list[tuple[str, str]]) -> str:
    return "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows)


def jsonl_of(rows: list[tuple[str, object]]) -> str:
    return "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)


OWN_SPLITS = {
    "train.csv": csv_of(reviews(num_rows=6)),
    "valid.csv": csv_of(reviews(num_rows=2, start=10)),
    "test.csv": csv_of(reviews(num_rows=2, start=20)),
}


def test_rows_are_numbered_and_point_to_their_source(prepare_files: Prepare) -> None:
    done = prepare_files(OWN_SPLITS, label_column="label")
    assert done.rows("valid") == [
        {
            "id": 0,
            "text": "good film number 10 seen in room 70",
            "label": "good",
            "source": "valid.csv",
            "source_row": 1,
        },
        {"id": 1, "text": "bad film number 11 seen in room 77", "label": "bad", "source": "valid.csv", "source_row": 2},
    ]
    assert [row["id"] for row in done.rows("train")] == list(range(6))
    assert done.labels() == ["bad", "good"]
    assert sorted(path.name for path in done.out.iterdir()) == [
        "labels.json",
        "leaks.parquet",
        "rejects.parquet",
        "summary.json",
        "test.parquet",
        "train.parquet",
        "valid.parquet",
    ]


def test_text_of_every_format_is_the_same(prepare_files: Prepare, tmp_path: Path) -> None:
    rows = reviews(num_rows=60)
    (tmp_path / "own").mkdir()
    table = pa.table({"text": [text for text, _ in rows], "label": [label for _, label in rows]})
    pq.write_table(table, tmp_path / "own.parquet")
    files = {
        "csv": {"a.csv": csv_of(rows)},
        "tsv": {"a.tsv": "label\ttext\n" + "".join(f"{label}\t{text}\n" for text, label in rows)},
        "jsonl": {"a.jsonl": jsonl_of([(text, label) for text, label in rows])},
        "parquet": {"a.parquet": (tmp_path / "own.parquet").read_bytes()},
        "folders": {f"f/{label}/{i:03}.txt": f"{text}\n" for i, (text, label) in enumerate(rows)},
    }
    expected = None
    for format, content in files.items():
        path = (
            {"path": str(tmp_path / "own" / "f")}
            if format == "folders"
            else {"path": str(tmp_path / "own" / next(iter(content)))}
        )
        done = prepare_files(content, out=f"prepared-{format}", label_column="label", **path)
        found = {
            split: sorted((row["text"], row["label"]) for row in done.rows(split))
            for split in ("train", "valid", "test")
        }
        expected = expected or found
        assert found == expected, format
        assert done.summary["rows_used"] == 60
    for format, content in (
        ("lines", "\n".join(text for text, _ in rows)),
        ("blocks", "\n\n".join(t for t, _ in rows)),
    ):
        done = prepare_files({f"{format}.txt": content}, out=f"prepared-{format}", format=format)
        assert {split: sorted(done.texts(split)) for split in expected} == {
            split: [text for text, _ in pairs] for split, pairs in expected.items()
        }


def test_missing_value_words_and_quotes_reach_the_prepared_table(prepare_files: Prepare) -> None:
    texts = ["NA", "null", "None", "two lines", 'say "hi"', "a b", "a, b"]
    quoted = ["NA", "null", "None", '"two\nlines"', '"say ""hi"""', "a\tb", '"a, b"']
    train = "text,label\n" + "".join(f"{text},{'xy'[i % 2]}\n" for i, text in enumerate(quoted))
    done = prepare_files({**OWN_SPLITS, "train.csv": train + "good q,good\nbad q,bad\n"}, label_column="label")
    assert done.texts("train")[:7] == texts
    assert done.summary["rows_rejected"] == 0


def test_empty_documents_are_rejected_with_a_count(prepare_files: Prepare) -> None:
    train = csv_of([("good film", "good"), ("", "bad"), ("   ", "bad"), ("\u200b", "bad"), ("bad film", "bad")])
    done = prepare_files({**OWN_SPLITS, "train.csv": train}, label_column="label", max_rejected_fraction=0.5)
    assert done.texts("train") == ["good film", "bad film"]
    assert done.summary["rejected"] == {"empty": 3}
    assert [(row["source"], row["source_row"], row["split"], row["reason"]) for row in done.rows("rejects")] == [
        ("train.csv", number, "train", "empty") for number in (2, 3, 4)
    ]


def test_every_row_is_used_or_rejected(prepare_files: Prepare) -> None:
    rows = [*reviews(num_rows=80), ("", "good"), ("no label", ""), ("good film number 0 seen in room 0", "good")]
    done = prepare_files({"a.csv": csv_of(rows) + '"open,good\n1,2,3\n\n'}, label_column="label")
    assert done.summary["rows_read"] == 86
    assert done.summary["rejected"] == {
        "blank_line": 1, "empty": 1, "field_count": 1, "missing_label": 1, "unbalanced_quote": 1
    }  # fmt: skip
    assert done.summary["rows_used"] == sum(len(done.rows(split)) for split in ("train", "valid", "test")) == 81
    assert len(done.rows("rejects")) == done.summary["rows_rejected"] == 5
    for split, counts in done.summary["splits"].items():
        texts = done.texts(split)
        assert counts["rows"] == len(texts)
        assert counts["words"] == sum(len(text.split()) for text in texts)
        assert counts["bytes"] == sum(len(text.encode()) for text in texts)


def test_too_many_rejects_stop_with_the_first_of_each_reason(prepare_files: Prepare, tmp_path: Path) -> None:
    rows = [*reviews(num_rows=20), *[("", "good")] * 5, ("x", "")]
    with pytest.raises(DataError) as caught:
        prepare_files({"a.csv": csv_of(rows)}, label_column="label")
    assert "6 of 26 rows are rejected, more than prepare.max_rejected_fraction = 0.05" in str(caught.value)
    assert "empty (5): a.csv row 21; a.csv row 22; a.csv row 23" in str(caught.value)
    assert "missing_label (1): a.csv row 26: 'x'" in str(caught.value)
    assert list((tmp_path / "prepared").iterdir()) == []


def test_blank_lines_of_a_text_are_no_fault_of_its(prepare_files: Prepare) -> None:
    text = "\n\n".join(text for text, _ in reviews(num_rows=40))
    done = prepare_files({"a.txt": text})
    assert (done.summary["rows_used"], done.summary["rejected"]) == (40, {"empty": 39})


def test_half_of_a_surrogate_pair_is_rejected(prepare_files: Prepare) -> None:
    lines = jsonl_of([(text, label) for text, label in reviews(num_rows=40)])
    done = prepare_files({"a.jsonl": lines + '{"text": "bad \\ud800 half", "label": "good"}\n'}, label_column="label")
    assert done.summary["rejected"] == {"invalid_unicode": 1}


def test_faulty_labels_stop_within_a_second_with_rows_and_labels(prepare_files: Prepare) -> None:
    files = {
        "train.jsonl": jsonl_of([("a", "pos"), ("b", "neg")]),
        "valid.jsonl": jsonl_of([("c", "pos")]),
        "test.jsonl": jsonl_of([("d", "pos"), ("e", "neg "), ("f", "neutral"), ("g", 1)]),
    }
    start = time.process_time()
    with pytest.raises(LabelError) as caught:
        prepare_files(files, label_column="label")
    assert time.process_time() - start < 1.0
    for part in ("'neg ' (test.jsonl row 2)", "'neutral' stands in test (test.jsonl row 3)", "'1' stands in test"):
        assert part in str(caught.value)


def test_number_beside_the_same_string_stops(prepare_files: Prepare) -> None:
    rows: list[tuple[str, object]] = [(f"film {i}", (1, "1", "0")[i % 3]) for i in range(60)]
    with pytest.raises(
        LabelError, match=r"'1' is stored as number in a\.jsonl row 1.* and as string in a\.jsonl row 2"
    ):
        prepare_files({"a.jsonl": jsonl_of(rows)}, label_column="label")


def test_old_labels_keep_their_numbers_over_runs(prepare_files: Prepare) -> None:
    first = reviews(num_rows=60, sentiments=("c", "b"))
    assert prepare_files({"a.csv": csv_of(first)}, label_column="label").labels() == ["b", "c"]
    more = [*first, *reviews(num_rows=60, sentiments=("a",), start=60)]
    assert prepare_files({"a.csv": csv_of(more)}, label_column="label").labels() == ["b", "c", "a"]


def test_repeated_texts_leave_train_and_then_valid(prepare_files: Prepare) -> None:
    train = [("One film", "x"), ("two  films", "y"), ("three", "x"), ("four", "y"), ("five", "y")]
    files = {
        "train.csv": csv_of(train),
        "valid.csv": csv_of([("TWO films", "x"), ("six", "y"), ("Four", "x")]),
        "test.csv": csv_of([("one  FILM", "y"), ("SIX", "x"), ("seven", "x"), ("seven", "x")]),
    }
    done = prepare_files(files, label_column="label", max_leaked_fraction=0.7)
    assert [done.texts(split) for split in ("train", "valid", "test")] == [
        ["three", "five"],
        ["TWO films", "Four"],
        ["one FILM", "SIX", "seven", "seven"],
    ]
    assert [row["id"] for row in done.rows("train")] == [0, 1]
    assert done.summary["removed_repeats"] == {"train": 3, "valid": 1}
    assert done.summary["rejected"] == {"stands_in_test": 2, "stands_in_valid": 2}
    assert done.summary["splits"]["train"] == {"rows": 2, "words": 2, "bytes": 9, "repeated_inside": 0}
    assert done.summary["document_words"] == [
        {"split": "train", "min": 1, "p50": 1.0, "p95": 1.0, "max": 1},
        {"split": "valid", "min": 1, "p50": 1.5, "p95": pytest.approx(1.95), "max": 2},
        {"split": "test", "min": 1, "p50": 1.0, "p95": pytest.approx(1.85), "max": 2},
    ]
    assert done.summary["splits"]["test"]["repeated_inside"] == 1
    assert done.summary["labels"] == [
        {"label": "x", "train": 1, "valid": 2, "test": 3},
        {"label": "y", "train": 1, "valid": 0, "test": 1},
    ]
    assert [(row["source"], row["source_row"], row["reason"]) for row in done.rows("rejects")] == [
        ("train.csv", 1, "stands_in_test"),
        ("train.csv", 2, "stands_in_valid"),
        ("train.csv", 4, "stands_in_valid"),
        ("valid.csv", 2, "stands_in_test"),
    ]


def test_repeated_texts_stay_and_are_counted_where_the_setting_keeps_them(prepare_files: Prepare) -> None:
    train = [("One film", "x"), ("two  films", "y"), ("three", "x"), ("four", "y"), ("five", "y")]
    files = {
        "train.csv": csv_of(train),
        "valid.csv": csv_of([("TWO films", "x"), ("six", "y"), ("Four", "x")]),
        "test.csv": csv_of([("one  FILM", "y"), ("SIX", "x"), ("seven", "x"), ("seven", "x")]),
    }
    done = prepare_files(files, label_column="label", repeats="keep", max_leaked_fraction=0.7)
    assert [len(done.texts(split)) for split in ("train", "valid", "test")] == [5, 3, 4]
    assert done.summary["kept_repeats"] == {"train": 3, "valid": 1}
    assert "removed_repeats" not in done.summary
    assert done.rows("rejects") == []


def test_five_more_rows_move_no_text_to_another_side(prepare_files: Prepare) -> None:
    texts = [text for text, _ in reviews(num_rows=40)]
    texts += [texts[0].upper(), f"  {texts[1]} ", texts[2].replace(" ", "\t")]
    before = prepare_files({"a.txt": "\n".join(texts)}, out="before")
    more = [f"a new text, number {i}" for i in range(5)]
    after = prepare_files({"a.txt": "\n".join(more[:2] + texts + more[2:])}, out="after")
    for split in ("train", "valid", "test"):
        assert [text for text in after.texts(split) if text not in more] == before.texts(split)
    folded = [
        {" ".join(text.casefold().split()) for text in after.texts(split)} for split in ("train", "valid", "test")
    ]
    assert not folded[0] & folded[1] | folded[0] & folded[2] | folded[1] & folded[2]
    assert sum(counts["repeated_inside"] for counts in after.summary["splits"].values()) == 3


def test_missing_splits_are_taken_from_train_by_hash(prepare_files: Prepare) -> None:
    files = {"train.csv": csv_of(reviews(num_rows=100)), "test.csv": OWN_SPLITS["test.csv"]}
    done = prepare_files({**files, "README.md": "about"}, label_column="label", valid_fraction=0.3)
    assert len(done.rows("test")) == 2
    assert 15 < len(done.rows("valid")) < 45
    assert {row["source"] for row in done.rows("valid")} == {"train.csv"}
    assert done.summary["ignored_files"] == ["README.md"]


def test_split_column_gives_the_splits_and_hash_fills_the_one_that_lacks(prepare_files: Prepare) -> None:
    lines = [
        f"{text},{label},{'test' if i % 4 == 0 else 'train'}" for i, (text, label) in enumerate(reviews(num_rows=100))
    ]
    done = prepare_files({"a.csv": "text,label,part\n" + "\n".join(lines)}, label_column="label", split_column="part")
    assert len(done.rows("test")) == 25
    assert 0 < len(done.rows("valid")) < 20
    assert len(done.rows("train")) + len(done.rows("valid")) == 75


@pytest.mark.parametrize(
    ("files", "settings", "message"),
    [
        (
            {"train.csv": OWN_SPLITS["train.csv"], "test.csv": "text,label\n"},
            {},
            "the test split of the data has no rows",
        ),
        ({"test.csv": OWN_SPLITS["test.csv"], "dev.csv": OWN_SPLITS["valid.csv"]}, {}, "but no train"),
        ({"a.csv": "text,label\n"}, {}, "holds no rows"),
        ({"a.csv": csv_of(reviews(num_rows=3))}, {}, r"puts no document into (valid|test)"),
        ({"a.csv": csv_of(reviews(num_rows=90))}, {"valid_fraction": 0.0}, "puts no document into valid"),
        ({"a.txt": "one\ntwo\n"}, {}, r"lines is text without labels, but dataset\.label_column is 'label'"),
        ({"a.csv": csv_of(reviews(num_rows=90, sentiments=("x",)))}, {}, "a classifier needs two or more"),
    ],
)
def test_data_that_cannot_be_used_is_refused_with_what_to_do(
    prepare_files: Prepare, files: dict[str, str], settings: dict[str, float], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        prepare_files(dict(files), label_column="label", **settings)


def test_latin_1_needs_its_name_or_auto(prepare_files: Prepare) -> None:
    text = "".join(f"le café numéro {i} était très agréable\n" for i in range(60))
    with pytest.raises(DataError, match=r"a\.txt: line 1: byte 6 \(e9\) is not utf-8.*set dataset\.encoding"):
        prepare_files({"a.txt": text.encode("latin-1")})
    for encoding, named in (("latin-1", "iso8859-1"), ("auto", "cp1252")):
        done = prepare_files({"a.txt": text.encode("latin-1")}, encoding=encoding)
        assert sorted(done.texts()) == sorted(text.splitlines())
        assert done.summary["encoding"] == named


def test_bom_and_crlf_never_reach_the_text_or_the_column_names(prepare_files: Prepare) -> None:
    content = csv_of(reviews(num_rows=60)).replace("\n", "\r\n")
    done = prepare_files({"a.csv": b"\xef\xbb\xbf" + content.encode()}, label_column="label")
    assert sorted(done.texts()) == sorted(text for text, _ in reviews(num_rows=60))
    assert done.labels() == ["bad", "good"]
    assert done.summary["texts_changed_by_cleaning"] == 0


def test_files_are_replaced_only_when_all_went_well(prepare_files: Prepare) -> None:
    good = prepare_files(OWN_SPLITS, label_column="label")
    before = {path.name: path.read_bytes() for path in good.out.iterdir()}
    with pytest.raises(LabelError):
        prepare_files({**OWN_SPLITS, "test.csv": csv_of([("new", "unheard of")])}, label_column="label")
    assert {path.name: path.read_bytes() for path in good.out.iterdir()} == before


def test_two_runs_write_the_same_bytes(prepare_files: Prepare) -> None:
    first, second = (prepare_files(OWN_SPLITS, out=out, label_column="label") for out in ("first", "second"))
    assert {path.name: path.read_bytes() for path in first.out.iterdir()} == {
        path.name: path.read_bytes() for path in second.out.iterdir()
    }


PEAK = """
import resource, sys
from pathlib import Path
from elman.config import DatasetConfig, PrepareConfig
from elman.data.prepare import prepare
dataset = DatasetConfig(path=sys.argv[1], tasks=("language_model",), valid_fraction=0.02, test_fraction=0.02)
summary = prepare(dataset=dataset, cleaning=PrepareConfig(max_leaked_fraction=1.0), out=Path(sys.argv[2]))
print(summary["rows_used"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    """60 MB more text in documents of 4 kB, near duplicates all, may add a digest and a length each, not the text."""
    words = random.Random(4)
    block = " ".join(f"word{words.randrange(5_000)}" for _ in range(500))
    peaks = {}
    for rows in (5_000, 20_000):
        with (tmp_path / "a.txt").open("w") as file:
            file.writelines(f"{number} {words.random()} {block}\n" for number in range(rows))
        arguments = [sys.executable, "-c", PEAK, str(tmp_path / "a.txt"), str(tmp_path / "out")]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        used, peaks[rows] = map(int, done.stdout.split())  # kB
        assert used == rows
    assert (tmp_path / "a.txt").stat().st_size > 80e6
    assert peaks[20_000] - peaks[5_000] < 20_000
