from contextlib import contextmanager
from pathlib import Path

import pytest

from elman.reporting.comparison import build_comparison
from elman.reporting.record import record_comparison
from elman.reporting.verdict import cell_verdict
from tests.helpers.reports import RUN_IDS


class FakeRun:
    def __init__(self) -> None:
        self.tags = {"mlflow.note.content": "what the run is\n"}
        self.metrics: dict[str, float] = {}
        self.artifacts: list[tuple[str, str | None]] = []

    def set_tags(self, tags) -> None:
        self.tags.update(tags)

    def log_metrics(self, metrics) -> None:
        self.metrics.update(metrics)

    def log_artifact(self, path: Path, folder: str | None = None) -> None:
        self.artifacts.append((path.name, folder))


class FakeRuns:
    """A store that has the runs of some cells."""

    def __init__(self, *cells: str) -> None:
        self.runs = {RUN_IDS[cell]: FakeRun() for cell in cells}

    def has_run(self, run_id: str) -> bool:
        return run_id in self.runs

    @contextmanager
    def resume(self, run_id: str):
        yield self.runs[run_id]


@pytest.fixture
def comparison(reports: Path) -> dict:
    cells = ["simple_rnn", "lstm", "gru"]
    return build_comparison(reports=reports, task="classifier", cells=cells, dataset="reuters-r8")


def test_each_run_gets_the_verdict_on_its_cell_the_intervals_and_the_report(comparison: dict, reports: Path) -> None:
    runs = FakeRuns("lstm", "gru")
    assert record_comparison(comparison, folder=reports / "classifier", runs=runs) == ["simple_rnn"]
    run = runs.runs[RUN_IDS["gru"]]
    assert run.tags["verdict"] == cell_verdict(comparison, "gru")
    assert run.tags["mlflow.note.content"].startswith("what the run is\n\nCompared with the others: better than ")
    row = comparison["rows"][-1]
    assert run.metrics["test/accuracy_documents_low"] == row["measures"]["accuracy"]["documents"]["low"]
    assert run.metrics["test/num_seeds"] == 3.0
    assert run.artifacts == [(name, "report") for name in ("report.html", "report.md", "comparison.json")]


def test_a_second_comparison_replaces_the_words_of_the_first(comparison: dict, reports: Path) -> None:
    runs = FakeRuns("gru")
    for _ in range(2):
        record_comparison(comparison, folder=reports / "classifier", runs=runs)
    assert runs.runs[RUN_IDS["gru"]].tags["mlflow.note.content"].count("Compared with the others") == 1


def test_the_words_on_a_cell_look_at_each_pair_from_its_side(comparison: dict) -> None:
    assert cell_verdict(comparison, "gru").startswith("better than SimpleRNN")
    assert "worse than" in cell_verdict(comparison, "simple_rnn")
    assert cell_verdict(comparison, "simple_rnn").endswith("(accuracy)")
    assert cell_verdict({"task": "classifier", "pairs": []}, "gru") == "compared with no other (accuracy)"
