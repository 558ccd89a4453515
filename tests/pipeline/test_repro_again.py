"""What `dvc repro` does after a first one, on a small data set: each test goes on where the one before it ended."""

import json
import re
import sqlite3
import time
from pathlib import Path

import pytest

from tests.helpers.project import Project, runs

pytestmark = pytest.mark.slow

TRAINED = {"train@classifier-gru", "train@language_model-gru"}
EVALUATED = {"evaluate@classifier-gru", "evaluate@language_model-gru"}
COMPARED = {"compare@classifier", "compare@language_model"}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    project.repro()
    return project


def test_a_seed_more_trains_only_that_seed_below_the_run_of_its_cell(project):
    before = runs(project)
    weights = project.root / "models" / "classifier" / "gru" / "seed-1" / "model.keras"
    old = weights.read_bytes()
    project.change_params({"experiment": {"seeds": [1, 2, 3]}})
    ran, text = project.repro("evaluate@classifier-gru")
    assert set(ran) == {"train@classifier-gru", "evaluate@classifier-gru"}
    assert text.count("kept, made from the same settings, data and code") == 2
    assert runs(project) == [*before, ("gru seed 3", "FINISHED")]
    assert weights.read_bytes() == old
    metrics = json.loads((project.root / "reports" / "classifier" / "cells" / "gru" / "metrics.json").read_text())
    assert metrics["seeds"] == [1, 2, 3]

    project.change_params({"experiment": {"seeds": [1, 2]}})
    project.repro("evaluate@classifier-gru")
    assert len(runs(project)) == len(before) + 1
    assert not (weights.parent.parent / "seed-3").exists()


def test_a_classifier_waits_for_the_language_model_that_it_starts_from_and_says_what_it_copied(project):
    pretrained = {"pretrain": "language_model", "bidirectional": False, "label_fraction": 0.5, "rate_decay": 0.5}
    project.change_params({"classifier": pretrained})
    ran, text = project.repro("train@classifier-gru")
    assert ran == ["train@language_model-gru", "pipelines/start/dvc.yaml:list_weights", "train@classifier-gru"]
    assert text.count("language_model gru seed 1: kept, made from the same settings, data and code") == 1
    start = json.loads((project.root / "models" / "classifier" / "gru" / "seed-2" / "start.json").read_text())
    assert start["source"] == "models/language_model/gru/seed-2"
    assert start["copied"][0] == "embedding/embeddings"
    with sqlite3.connect(project.root / "mlruns" / "mlflow.db") as store:
        logged = store.execute("select value from params where key = 'pretrain_sha256'").fetchall()
    assert (start["sha256"],) in logged
    assert len(set(logged)) == 2
    assert project.repro("train@classifier-gru")[0] == []
    project.change_params({"dataset": {"tasks": ["classifier"]}})
    _, text = project.repro("train@classifier-gru", succeeds=False)
    assert "needs the language model that dataset.tasks leaves out" in text
    old = {"pretrain": "none", "bidirectional": True, "label_fraction": 1.0, "rate_decay": 1.0}
    project.change_params({"classifier": old, "dataset": {"tasks": ["classifier", "language_model"]}})
    assert project.repro("prepare")[0] == ["prepare"]  # its params were others in between


def test_a_change_in_code_that_train_imports_runs_train_and_what_follows_again(project):
    file = project.root / "src" / "elman" / "training" / "schedules.py"
    file.write_text(file.read_text() + "\n# changed\n")
    ran, _ = project.repro("evaluate")
    assert set(ran) == TRAINED | EVALUATED


def test_a_stage_that_failed_is_the_only_one_to_run_again(project):
    script = project.root / "pipelines" / "compare.py"
    whole = script.read_text()
    script.write_text(whole.replace("def main() -> None:", "def main() -> None:\n    raise RuntimeError('broken')\n"))
    _, text = project.repro(succeeds=False)
    assert "stage compare failed" in text
    script.write_text(whole)
    ran, _ = project.repro()
    assert set(ran) == COMPARED


def wait_for_checkpoint(project: Project, process) -> Path:
    """The first checkpoint of a training, once it is whole."""
    for _ in range(1200):
        found = list((project.root / "checkpoints").rglob("*.npz"))
        if found and not found[0].name.startswith("."):
            return found[0]
        assert process.poll() is None, "the pipeline ended before its first checkpoint"
        time.sleep(0.1)
    raise AssertionError("no checkpoint appeared")


def test_a_killed_training_goes_on_where_it_was_and_other_units_start_at_zero(project):
    project.change_params({"classifier": {"epochs": 400}, "experiment": {"seeds": [1]}})
    with project.started(["dvc", "repro", "train@classifier-gru"]) as process:
        wait_for_checkpoint(project, process)

    project.change_params({"classifier": {"units": 9, "epochs": 2}})
    _, text = project.repro("train@classifier-gru")
    assert "clean start" in text
    assert "went on after epoch" not in text

    project.change_params({"classifier": {"units": 8, "epochs": 60}})
    with project.started(["python", "pipelines/train.py", "classifier", "gru"]) as process:
        wait_for_checkpoint(project, process)
        process.terminate()
        assert process.wait(timeout=30.0) == 143
    before = runs(project)
    assert [status for _, status in before[-2:]] == ["KILLED", "KILLED"]
    _, text = project.repro("train@classifier-gru")
    done = re.search(r"went on after (?:epoch (\d+))?", text)
    assert done
    assert f"epoch {int(done[1] or 0) + 1}/60" in text
    assert list((project.root / "checkpoints").rglob("*.*")) == []
    assert runs(project) == [*before[:-2], *((name, "FINISHED") for name, _ in before[-2:])], "the same runs went on"
    assert {status for _, status in before[:-2]} <= {"FINISHED", "FAILED"}, "a killed run does not stay RUNNING"
