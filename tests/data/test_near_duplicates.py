"""Near duplicates against a slow and exact search over words and sets of word 5-grams."""

import random
from pathlib import Path

import pyarrow as pa
import pytest

from elman.artifacts import TableWriter
from elman.data import near_duplicates
from elman.data.near_duplicates import find_near_duplicates
from elman.data.sketches import SKETCH
from elman.data.tables import PREPARED_SCHEMA
from tests.helpers.documents_alike import changed, document, grams_in_common, words_in_common


def table(path: Path, texts: list[str]) -> Path:
    with TableWriter(path, PREPARED_SCHEMA) as writer:
        nulls = pa.nulls(len(texts), pa.string())
        rows = list(range(len(texts)))
        writer.write({"id": rows, "text": texts, "label": nulls, "source": ["a"] * len(texts), "source_row": rows})
    return path


def near(first: list[str], second: list[str]) -> bool:
    return words_in_common(first, second) >= 0.9 and grams_in_common(first, second) >= 0.3


def test_pairs_are_those_of_the_exact_search_for_documents_that_fit_a_sketch(tmp_path: Path) -> None:
    words = random.Random(7)
    originals = [document(words, length=words.randint(5, SKETCH)) for _ in range(400)]
    copies = [changed(words, text, times=words.randint(0, 4)) for text in reversed(originals[:150])]
    expected = [row for row, copy in enumerate(copies) if near(copy, originals[149 - row])]
    assert 50 < len(expected) < 120
    found = find_near_duplicates(
        table(tmp_path / "train.parquet", [" ".join(text) for text in originals]),
        {"test": table(tmp_path / "test.parquet", [" ".join(text).upper() for text in copies])},
    )["test"]
    assert (found.checked, found.rows.tolist()) == (150, expected)
    assert found.train_rows.tolist() == [149 - row for row in expected]
    assert found.similarities.tolist() == [words_in_common(copies[row], originals[149 - row]) for row in expected]


@pytest.mark.parametrize(("length", "times"), [(20, 1), (60, 3), (120, 6)])
def test_one_word_in_twenty_may_differ_at_any_length(tmp_path: Path, length: int, times: int) -> None:
    """Spread evenly, as an editor's changes are; five times as many 5-grams are lost."""
    text = document(random.Random(length), length=length)
    other = [f"new{place}" if place % 20 == 10 else word for place, word in enumerate(text)]
    assert sum(a != b for a, b in zip(text, other, strict=True)) == times
    found = find_near_duplicates(
        table(tmp_path / "train.parquet", [" ".join(text)]),
        {"test": table(tmp_path / "test.parquet", [" ".join(other)])},
    )
    assert found["test"].rows.tolist() == [0]


def test_the_same_words_in_another_order_are_another_document(tmp_path: Path) -> None:
    words = random.Random(2)
    text = document(words, length=80)
    shuffled = words.sample(text, len(text))
    found = find_near_duplicates(
        table(tmp_path / "train.parquet", [" ".join(text)]),
        {"test": table(tmp_path / "test.parquet", [" ".join(shuffled)])},
    )
    assert found["test"].rows.tolist() == []


def test_a_copy_is_found_among_documents_that_share_most_of_their_text(tmp_path: Path) -> None:
    words = random.Random(4)
    form = document(words, length=30)
    filled = [[*form, *document(words, length=10)] for _ in range(45)]
    copy = changed(words, filled[37], times=1)
    found = find_near_duplicates(
        table(tmp_path / "train.parquet", [" ".join(copy)]),
        {"test": table(tmp_path / "test.parquet", [" ".join(text) for text in filled])},
    )
    assert found["test"].rows.tolist() == [row for row, text in enumerate(filled) if near(copy, text)] == [37]


def test_batches_of_any_size_give_the_same_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = random.Random(9)
    originals = [document(words, length=80) for _ in range(60)]
    train = table(tmp_path / "train.parquet", [" ".join(text) for text in originals])
    test = table(tmp_path / "test.parquet", [" ".join(changed(words, text, times=1)) for text in originals[::2]])
    whole = find_near_duplicates(train, {"test": test})["test"]
    assert whole.train_rows.tolist() == list(range(0, 60, 2))
    monkeypatch.setattr(near_duplicates, "BATCH_BYTES", 300)
    parts = find_near_duplicates(train, {"test": test})["test"]
    assert [values.tolist() for values in parts[1:]] == [values.tolist() for values in whole[1:]]


def test_only_every_nth_document_of_a_large_split_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "MAX_CHECKED", 10)
    words = random.Random(10)
    texts = [" ".join(document(words, length=20)) for _ in range(25)]
    train = table(tmp_path / "train.parquet", texts)
    found = find_near_duplicates(train, {"test": table(tmp_path / "test.parquet", texts)})["test"]
    assert found.checked == 9
    assert found.rows.tolist() == found.train_rows.tolist() == list(range(0, 25, 3))


def test_each_split_has_its_own_pairs(tmp_path: Path) -> None:
    words = random.Random(11)
    texts = [" ".join(document(words, length=30)) for _ in range(8)]
    train = table(tmp_path / "train.parquet", texts[:5])
    found = find_near_duplicates(
        train,
        {
            "valid": table(tmp_path / "valid.parquet", [texts[6], texts[3]]),
            "test": table(tmp_path / "test.parquet", [texts[0], texts[7], texts[4]]),
        },
    )
    assert {split: (pairs.rows.tolist(), pairs.train_rows.tolist()) for split, pairs in found.items()} == {
        "valid": ([1], [3]),
        "test": ([0, 2], [0, 4]),
    }


def test_empty_split_has_no_near_duplicates(tmp_path: Path) -> None:
    train = table(tmp_path / "train.parquet", ["one two three four five"])
    found = find_near_duplicates(train, {"test": table(tmp_path / "test.parquet", [])})["test"]
    assert (found.checked, len(found.rows)) == (0, 0)
    none = find_near_duplicates(table(tmp_path / "none.parquet", []), {"test": train})["test"]
    assert (none.checked, len(none.rows)) == (1, 0)
