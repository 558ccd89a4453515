"""Intervals over documents and paired tests, from the scores that stand beside the reports."""

from pathlib import Path

import numpy as np
import pytest

from elman.errors import ArtifactError
from elman.metrics.paired_bootstrap import bootstrapped
from elman.reporting.class_intervals import class_intervals
from elman.reporting.comparing.measuring import measure_systems
from elman.reporting.comparing.system import read_system
from elman.reporting.comparison import build_comparison
from elman.reporting.over_documents import document_intervals
from tests.helpers.scores import classifier_scores, language_model_scores, write_scores

CELLS = ["simple_rnn", "lstm", "gru"]


@pytest.mark.parametrize(
    ("task", "measures"),
    [
        ("classifier", ("accuracy", "macro_f1", "nll_nats_per_document")),
        ("language_model", ("perplexity", "perplexity_per_word", "bits_per_byte", "nll_nats_per_token")),
    ],
)
def test_every_measure_of_a_cell_has_an_interval_over_seeds_and_one_over_documents(
    reports: Path, task: str, measures: tuple[str, ...]
) -> None:
    comparison = build_comparison(reports=reports, task=task, cells=CELLS, dataset="reuters-r8")
    for row in comparison["rows"][1:]:
        for name in measures:
            values = row["measures"][name]
            assert values["low"] < values["mean"] < values["high"]
            assert values["documents"]["low"] < values["mean"] < values["documents"]["high"]
            assert (values["low"], values["high"]) != (values["documents"]["low"], values["documents"]["high"])


def test_pairs_are_of_all_cells_and_corrected_together(reports: Path) -> None:
    comparison = build_comparison(reports=reports, task="classifier", cells=CELLS, dataset="reuters-r8")
    assert [(pair["first"], pair["second"]) for pair in comparison["pairs"]] == [
        ("simple_rnn", "lstm"), ("simple_rnn", "gru"), ("lstm", "gru"),
    ]  # fmt: skip
    assert comparison["pairs"][1]["outcome"] in ("better", "seeds_undecided")


def test_a_cell_without_scores_is_refused_by_name(reports: Path) -> None:
    (reports / "classifier" / "cells" / "gru" / "scores.parquet").unlink()
    with pytest.raises(ArtifactError, match=r"gru: .*holds no scores\.parquet.*dvc repro"):
        build_comparison(reports=reports, task="classifier", cells=CELLS, dataset="reuters-r8")


def test_one_document_and_one_class_and_all_correct_give_defined_answers(tmp_path: Path) -> None:
    one = write_scores(tmp_path / "one", classifier_scores(np.array([True]), classes=1))
    right = write_scores(tmp_path / "right", classifier_scores(np.ones(30, bool)))
    found = document_intervals([read_system(one, name="one")])["one"]
    assert set(map(tuple, (ends.values() for ends in found.values()))) == {(None, None)}
    found = document_intervals([read_system(right, name="right")])["right"]
    assert found["accuracy"] == {"low": 1.0, "high": 1.0}
    assert found["macro_f1"] == {"low": 1.0, "high": 1.0}


def test_a_perplexity_that_overflows_has_no_interval_and_the_others_do(tmp_path: Path) -> None:
    nats = np.random.default_rng(3).uniform(300.0, 800.0, 50)
    folder = write_scores(tmp_path / "lm", language_model_scores(nats))
    found = document_intervals([read_system(folder, name="lm")])["lm"]
    assert found["perplexity_per_word"] == {"low": None, "high": None}
    assert found["bits_per_byte"]["low"] < found["bits_per_byte"]["high"]


@pytest.mark.parametrize("measure", ["accuracy", "macro_f1"])
def test_intervals_over_documents_hold_the_truth_about_19_times_in_20(tmp_path: Path, measure: str) -> None:
    """400 test sets from one population in which each class is found with its own probability."""
    random = np.random.default_rng(8)
    share, mix = np.array([0.9, 0.7, 0.8]), np.array([0.5, 0.3, 0.2])

    def draw(size: int) -> dict[str, np.ndarray]:
        labels = random.choice(3, size=size, p=mix)
        predicted = np.where(random.random(size) < share[labels], labels, (labels + 1) % 3)
        sure = np.full(size, 0.8, np.float32)
        return {"id": np.arange(size), "label": labels, "predicted": predicted, "probability": sure, "nll_nats": sure}

    whole = read_system(write_scores(tmp_path / "whole", draw(200_000)), name="whole")
    truth = measure_systems([whole], measure, resamples=1, seed=1)[0].value
    held = 0
    for number in range(400):
        system = read_system(write_scores(tmp_path / "some", draw(300)), name="some")
        one = measure_systems([system], measure, resamples=200, seed=number)[0]
        ends = bootstrapped(one.value, one.resampled, documents=300)
        held += ends.low <= truth <= ends.high
    assert 0.92 <= held / 400 <= 0.975


def test_each_class_has_an_interval_over_documents_and_over_seeds(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    folder = write_scores(tmp_path / "gru", classifier_scores(random.random((3, 400)) < 0.8), seeds=(1, 2, 3))
    found = class_intervals({"labels": ["a", "b", "c", "d", "never"]}, read_system(folder, name="gru"))
    for ends in (found["f1_documents"], found["f1_seeds"]):
        assert ends[4] is None
        assert all(low < high for low, high in ends[:4])
    single = class_intervals({"labels": list("abcd")}, read_system(folder, name="gru", seed=2))
    assert single["f1_seeds"] == [None] * 4
