from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elman.evaluation.mistakes import most_confident_mistakes
from elman.models.scoring import ClassifierScores

LABELS = ["earn", "ship", "trade"]


def seed(*rows: tuple[float, float, float]) -> ClassifierScores:
    return ClassifierScores(np.array([4, 7, 9]), np.array([0, 1, 2], np.int32), np.log(np.array(rows, np.float32)))


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    ids = [4, 5, 7, 9]
    columns = {"id": ids, "text": [f"text {n} " + "x" * 300 for n in ids], "source": ["a.csv"] * 4, "source_row": ids}
    pq.write_table(pa.table(columns), tmp_path / "test.parquet")
    return tmp_path / "test.parquet"


def test_the_surest_mistake_of_the_mean_over_seeds_comes_first(prepared):
    first = seed((0.1, 0.7, 0.2), (0.0001, 0.9998, 0.0001), (0.6, 0.3, 0.1))
    second = seed((0.3, 0.5, 0.2), (0.2, 0.4, 0.4), (0.96, 0.02, 0.02))
    found = most_confident_mistakes([first, second], LABELS, prepared)
    assert [(row["id"], row["label"], row["predicted"]) for row in found] == [
        (9, "trade", "earn"),
        (4, "earn", "ship"),
    ]
    assert found[0]["probability"] == pytest.approx(0.78)
    assert found[0]["label_probability"] == pytest.approx(0.06)
    assert [row["seeds_wrong"] for row in found] == [2, 2]
    assert (found[0]["source"], found[0]["source_row"]) == ("a.csv", 9)
    assert found[0]["text"].startswith("text 9 x")
    assert len(found[0]["text"]) == 200


def test_no_more_than_asked_for_and_none_where_all_is_right(prepared):
    wrong = seed((0.1, 0.7, 0.2), (0.5, 0.3, 0.2), (0.6, 0.3, 0.1))
    assert [row["id"] for row in most_confident_mistakes([wrong], LABELS, prepared, shown=1)] == [4]
    right = seed((0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8))
    assert most_confident_mistakes([right], LABELS, prepared) == []
