from dataclasses import replace

import numpy as np
import pytest

from elman.config import RetrainingConfig
from elman.retraining.facts import DataFacts
from elman.retraining.validation import problems

ACCEPTED = DataFacts(
    path="news.csv",
    columns=("text", "label", "date"),
    encodings=("utf-8",),
    rows=1_000,
    rejected=2,
    labels={"acq": 600, "grain": 40, "earn": 360},
    duplicates=50,
    replacement_texts=3,
    garbled_texts=0,
    digests=np.zeros(0, np.uint64),
    digest_shift=0,
)


def found(changes: dict[str, object], accepted: DataFacts | None = ACCEPTED, **settings: object) -> list[str]:
    return problems(replace(ACCEPTED, **changes), accepted, RetrainingConfig.model_validate(settings))


def test_data_like_the_last_has_no_problem_and_neither_has_the_first() -> None:
    assert found({}) == []
    assert found({"rows": 900, "duplicates": 130, "replacement_texts": 11}) == []
    assert found({"rows": 5, "labels": {"other": 5}, "columns": ()}, accepted=None) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"columns": ("text", "date")}, ["'label'", "are gone", "'text', 'date'"]),
        ({"rows": 899}, ["899 usable rows", "1,000 accepted last", "10.1% fewer", "retraining.max_row_drop"]),
        (
            {"labels": {"acq": 600, "grain": 40, "earn": 300, "eran": 60}},
            ["no label 'eran' (60 rows)", "retraining.label_changes"],
        ),
        ({"labels": {"acq": 600, "earn": 400}}, ["no row has the label 'grain' (40 rows)", "label_changes"]),
        ({"encodings": ("cp1252",)}, ["read as cp1252", "was read as utf-8", "dataset.encoding"]),
        ({"garbled_texts": 11}, ["3 texts hold U+FFFD and 11 look like UTF-8", "1.4% of the rows", "dataset.encoding"]),
        ({"duplicates": 151}, ["15.1% of the rows repeat", "5.0% accepted last", "retraining.max_duplicate_rise"]),
    ],
)
def test_each_problem_is_one_sentence_with_file_number_and_what_to_change(
    changes: dict[str, object], words: list[str]
) -> None:
    (problem,) = found(changes)
    assert problem.startswith("news.csv: ")
    assert [word for word in words if word not in problem] == []


def test_all_problems_are_given_at_once() -> None:
    assert len(found({"rows": 500, "labels": {"acq": 500, "new": 1}, "encodings": ("cp1252", "utf-8")})) == 4


def test_a_column_that_comes_is_no_problem_since_nothing_reads_it() -> None:
    assert found({"columns": ("id", "date", "label", "text")}) == []


def test_labels_that_a_person_named_may_come_and_go() -> None:
    changes = {"labels": {"acq": 600, "earn": 300, "wheat": 100}}
    assert len(found(changes)) == 2
    assert len(found(changes, label_changes=["wheat"])) == 1
    assert found(changes, label_changes=["wheat", "grain"]) == []


def test_limits_are_the_configured_ones() -> None:
    assert found({"rows": 500, "duplicates": 190}, max_row_drop=0.5, max_duplicate_rise=0.35) == []
    assert len(found({"rows": 999, "duplicates": 51}, max_row_drop=0.0, max_duplicate_rise=0.0)) == 2


def test_a_long_list_of_labels_is_cut() -> None:
    labels = {**ACCEPTED.labels, **{f"class {n}": 1 for n in range(30)}}
    (problem,) = found({"labels": labels})
    assert problem.count("rows)") == 10
    assert "20 more" in problem
