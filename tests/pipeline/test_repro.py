"""The real pipeline on a small data set: each test goes on where the one before it ended."""

import json
import re
import time

import pytest

from tests.helpers.project import Project, runs

TRAINED = {"train@classifier-gru", "train@language_model-gru"}
EVALUATED = {"evaluate@classifier-gru", "evaluate@language_model-gru"}
COMPARED = {"compare@classifier", "compare@language_model"}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    return Project(tmp_path_factory.mktemp("project"))


def test_one_command_goes_from_text_to_a_comparison(project):
    ran, _ = project.repro()
    assert set(ran) == {"prepare", "train_tokenizer", "encode", "baseline@classifier", "baseline@language_model"} | (
        TRAINED | EVALUATED | COMPARED
    )
    for task, measure in (("classifier", "accuracy"), ("language_model", "perplexity")):
        comparison = json.loads((project.root / "reports" / task / "comparison.json").read_text())
        cell = next(row for row in comparison["rows"] if row["name"] == "gru")
        assert cell["seeds"] == [1, 2]
        assert len(cell["measures"][measure]["per_seed"]) == 2
        assert cell["measures"][measure]["low"] < cell["measures"][measure]["mean"] < cell["measures"][measure]["high"]
        assert (project.root / "reports" / task / "report.html").stat().st_size > 10_000
        metrics = json.loads((project.root / "reports" / task / "cells" / "gru" / "metrics.json").read_text())
        assert metrics["units"] == 8
        assert "tuning" not in metrics
    mixture = comparison["rows"][-1]
    assert (mixture["name"], mixture["seeds"]) == ("gru+kneser_ney", [1, 2])
    shown = project.run(["elman", "compare", "gru+kneser_ney", "kneser_ney", "gru", "--resamples", "100"]).stdout
    assert "gru+kneser_ney is better than gru" in shown


USED = """
import elman, json
from pathlib import Path
from elman.artifacts import read_table
from elman.using.answers import score_together

test = read_table(Path("data/prepared/test.parquet")).to_pylist()
found = elman.load("gru", task="classifier").classify([row["text"] for row in test])
right = [one.label == row["label"] for one, row in zip(found, test, strict=True)]
models = [elman.load(f"models/language_model/gru/seed-{seed}") for seed in (1, 2)]
scores = [score_together(model.score([row["text"] for row in test])) for model in models]
best = elman.load("language_model/gru").seed
print(json.dumps({"accuracy": sum(right) / len(right), "scores": scores, "best": best}))
"""


def test_what_was_trained_is_usable_and_scores_the_test_split_as_the_evaluate_stage_does(project):
    cells = {task: project.root / "reports" / task / "cells" / "gru" for task in ("classifier", "language_model")}
    measures = {task: json.loads((folder / "metrics.json").read_text()) for task, folder in cells.items()}
    found = json.loads(project.run(["python", "-c", USED]).stdout.splitlines()[-1])
    for name, measure in measures["language_model"]["measures"].items():
        assert [block[name] for block in found["scores"]] == pytest.approx(measure["per_seed"], rel=1e-6), name
    losses = measures["language_model"]["valid_measures"]["nll_nats_per_token"]["per_seed"]
    assert found["best"] == 1 + losses.index(min(losses))
    test = project.root / "data" / "prepared" / "test.parquet"
    lines = project.run(["elman", "classify", "gru", "--file", str(test), "--json"]).stdout.splitlines()
    classes = [json.loads(line)["label"] for line in lines if line.startswith("{")]
    best = re.search(r"gru/seed-(\d), the best of 2 seeds", "\n".join(lines)).group(1)
    assert found["accuracy"] in measures["classifier"]["measures"]["accuracy"]["per_seed"]
    assert found["accuracy"] == measures["classifier"]["measures"]["accuracy"]["per_seed"][int(best) - 1]
    assert set(classes) <= {"bad", "good"}
    assert len(classes) == measures["language_model"]["measures"]["num_documents"]["mean"]


def test_every_run_is_finished_and_stands_under_its_parent(project):
    found = runs(project)
    assert sorted(name for name, _ in found) == ["gru"] * 2 + ["gru seed 1"] * 2 + ["gru seed 2"] * 2
    assert {status for _, status in found} == {"FINISHED"}


def test_metrics_and_plots_can_be_read_by_dvc(project):
    name = "reports/classifier/cells/gru/summary.json"
    shown = json.loads(project.run(["dvc", "metrics", "show", "--json", name]).stdout)
    assert 0.0 <= shown[""]["data"][name]["data"]["accuracy"] <= 1.0
    tokenizer = "models/tokenizer/summary.json"
    shown = json.loads(project.run(["dvc", "metrics", "show", "--json", tokenizer]).stdout)
    assert shown[""]["data"][tokenizer]["data"]["pieces"] == 40
    project.run(["dvc", "plots", "show", "-o", "plots"])
    page = (project.root / "plots" / "index.html").read_text()
    assert "classifier: validation accuracy" in page
    assert "classifier: confusion on test, all seeds" in page


def test_a_second_run_does_nothing_and_records_nothing(project):
    before = runs(project)
    ran, _ = project.repro()
    assert ran == []
    assert runs(project) == before


def test_a_diverged_training_fails_with_its_own_exit_code_and_breaks_no_reader(project):
    project.change_params({"classifier": {"learning_rate": 1e30, "global_clipnorm": None, "optimizer": "sgd"}})
    done = project.run(["python", "pipelines/train.py", "classifier", "gru"], succeeds=False)
    assert done.returncode == 40
    assert "lower learning_rate" in done.stdout
    assert runs(project)[-1][1] == "FAILED"
    project.run(["dvc", "metrics", "show"])


def test_a_gpu_that_is_not_there_is_an_error_within_seconds(project):
    project.change_params({"compute": {"device": "gpu"}})
    done = project.run(["python", "pipelines/train.py", "classifier", "gru"], succeeds=False)
    assert done.returncode == 33
    assert "TensorFlow sees no GPU" in done.stdout


def test_wrong_params_are_refused_before_tensorflow_is_loaded(project):
    project.change_params({"classifier": {"dropuot": 0.5}})
    started = time.perf_counter()
    done = project.run(["python", "pipelines/train.py", "classifier", "gru"], succeeds=False)
    assert done.returncode == 2
    assert "did you mean dropout?" in done.stdout
    assert "stage train failed" in done.stdout
    assert time.perf_counter() - started < 8.0
