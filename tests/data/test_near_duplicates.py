"""Near duplicates against a slow and exact count over sets of word 5-grams."""

import random
from pathlib import Path

import pyarrow as pa
import pytest

from elman.artifacts import TableWriter
from elman.data import near_duplicates
from elman.data.near_duplicates import SKETCH, Sketcher, count_near_duplicates, similarity
from elman.data.tables import PREPARED_SCHEMA


def document(words: random.Random, *, length: int) -> list[str]:
    return [f"w{words.randrange(3_000)}" for _ in range(length)]


def changed(words: random.Random, text: list[str], *, times: int) -> list[str]:
    other = list(text)
    for place in words.sample(range(len(text)), times):
        other[place] = "new"
    return other


def jaccard(first: list[str], second: list[str]) -> float:
    a, b = ({tuple(text[i : i + 5]) for i in range(len(text) - 4)} for text in (first, second))
    return len(a & b) / len(a | b)


def table(path: Path, texts: list[str]) -> Path:
    with TableWriter(path, PREPARED_SCHEMA) as writer:
        nulls = pa.nulls(len(texts), pa.string())
        rows = list(range(len(texts)))
        writer.write({"id": rows, "text": texts, "label": nulls, "source": ["a"] * len(texts), "source_row": rows})
    return path


def test_count_equals_the_exact_one_for_documents_that_fit_a_sketch(tmp_path: Path) -> None:
    words = random.Random(7)
    originals = [document(words, length=words.randint(5, SKETCH)) for _ in range(400)]
    copies = [changed(words, text, times=min(words.randint(0, 4), len(text))) for text in originals[:150]]
    expected = sum(any(jaccard(copy, text) >= 0.8 for text in originals) for copy in copies)
    assert 30 < expected < 120
    found = count_near_duplicates(
        table(tmp_path / "train.parquet", [" ".join(text) for text in originals]),
        {"test": table(tmp_path / "test.parquet", [" ".join(text).upper() for text in copies])},
    )
    assert found == {"test": {"checked": 150, "near_duplicates": expected}}


def test_similarity_of_long_documents_is_estimated_within_its_error() -> None:
    words = random.Random(8)
    errors = []
    for times in (0, 2, 5, 10, 20, 40) * 5:
        first = document(words, length=600)
        second = changed(words, first, times=times)
        sketch = Sketcher().sketches([" ".join(text).encode() for text in (first, second)])
        errors.append(similarity(sketch.of(0), sketch.of(1)) - jaccard(first, second))
    assert max(map(abs, errors)) < 4 * 0.5 / SKETCH**0.5
    assert abs(sum(errors) / len(errors)) < 0.03


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 0), ("a b c d", 0), ("a b c d e", 1), ("a b c d e f", 2), ("a a a a a a a", 1), ("  a  b c d\te ", 1)],
)
def test_sketch_holds_each_5_gram_once(text: str, size: int) -> None:
    sketch = Sketcher().sketches([b"before it stands another text", text.encode(), b"and after it one too"])
    assert len(sketch.of(1)) == size


def test_5_grams_do_not_reach_over_the_end_of_a_document() -> None:
    sketcher = Sketcher()
    together = sketcher.sketches([b"a b c d e f", b"g h i j k"])
    alone = [sketcher.sketches([text]) for text in (b"a b c d e f", b"g h i j k")]
    assert together.of(0).tolist() == alone[0].of(0).tolist()
    assert together.of(1).tolist() == alone[1].of(0).tolist()


def test_batches_of_any_size_give_the_same_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = random.Random(9)
    originals = [document(words, length=80) for _ in range(60)]
    train = table(tmp_path / "train.parquet", [" ".join(text) for text in originals])
    test = table(tmp_path / "test.parquet", [" ".join(changed(words, text, times=1)) for text in originals[::2]])
    whole = count_near_duplicates(train, {"test": test})
    assert whole["test"]["near_duplicates"] > 20
    monkeypatch.setattr(near_duplicates, "_BATCH_BYTES", 300)
    assert count_near_duplicates(train, {"test": test}) == whole


def test_only_every_nth_document_of_a_large_split_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "MAX_CHECKED", 10)
    words = random.Random(10)
    texts = [" ".join(document(words, length=20)) for _ in range(25)]
    train = table(tmp_path / "train.parquet", texts)
    found = count_near_duplicates(train, {"test": table(tmp_path / "test.parquet", texts)})
    assert found == {"test": {"checked": 9, "near_duplicates": 9}}


def test_empty_split_has_no_near_duplicates(tmp_path: Path) -> None:
    train = table(tmp_path / "train.parquet", ["one two three four five"])
    assert count_near_duplicates(train, {"test": table(tmp_path / "test.parquet", [])}) == {
        "test": {"checked": 0, "near_duplicates": 0}
    }
