"""What the README tells about DVC experiments, on a small data set: each test goes on where the one before it ended."""

import csv
import json
import sqlite3

import pytest

from tests.helpers.project import Project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    project.change_params({"dataset": {"tasks": ["classifier"]}})
    project.run(["git", "commit", "-qam", "one task"])
    project.repro()
    project.run(["git", "add", "dvc.lock"])
    project.run(["git", "commit", "-qm", "first results"])
    return project


def compared(project: Project, *names: str) -> dict:
    done = project.run(["elman", "compare", *names, "--json"])
    return json.loads(done.stdout.splitlines()[-1])["tasks"]["classifier"]


def test_an_experiment_over_units_is_shown_beside_the_commit_that_it_started_from(project):
    project.run(["dvc", "exp", "run", "-q", "-n", "wider", "-S", "classifier.units=9"])
    table = project.run(["dvc", "exp", "show", "--csv"]).stdout
    rows = {row["Experiment"] or row["rev"]: row for row in csv.DictReader(table.splitlines())}
    branch = project.run(["git", "branch", "--show-current"]).stdout.strip()
    assert rows[branch]["classifier.units"] == "8"
    assert rows["wider"]["classifier.units"] == "9"
    measures = {name: value for name, value in rows["wider"].items() if name.endswith("accuracy")}
    assert any(measures.values()), "the measures of the experiment are shown"


def test_an_experiment_in_a_copy_of_its_own_is_recorded_in_the_store_of_the_checkout(project):
    project.run(["dvc", "exp", "run", "-q", "--temp", "-n", "simple", "-S", "experiment.cells=[simple_rnn]"])
    with sqlite3.connect(project.root / "mlruns" / "mlflow.db") as store:
        found = store.execute("select name from runs order by start_time desc limit 3").fetchall()
        tags = dict(store.execute("select value, count(*) from tags where key = 'dvc.exp' group by value").fetchall())
    assert {name for (name,) in found} == {"simple_rnn", "simple_rnn seed 1", "simple_rnn seed 2"}
    assert tags["simple"] == 1
    assert tags["wider"] == 1


def test_compare_takes_experiments_by_name_and_by_name_and_cell(project):
    project.run(["git", "checkout", "-q", "."])
    project.run(["dvc", "checkout", "-q", "dvc.yaml"])
    found = compared(project, "gru", "wider:gru", "simple")
    assert [row["name"] for row in found["systems"]] == ["gru", "wider:gru", "simple"]
    assert len(found["pairs"]) == 3
    assert found["num_documents"] == 14
    same = compared(project, "gru", "HEAD:gru")
    assert same["pairs"][0]["identical"]


def test_what_an_experiment_does_not_hold_is_refused_with_what_it_holds(project):
    done = project.run(["elman", "compare", "gru", "wider:lstm"], succeeds=False)
    assert "wider: has no 'lstm'; it holds gru, tfidf" in done.stdout
    done = project.run(["elman", "compare", "gru", "wiider:gru"], succeeds=False)
    assert "'wiider:gru' is no cell, baseline, mixture, folder, run id or experiment" in done.stdout


def test_dvc_tells_what_a_change_did_to_metrics_and_plots(project):
    name = "reports/classifier/cells/gru/summary.json"
    found = json.loads(project.run(["dvc", "metrics", "diff", "--json", "HEAD", "wider", "--targets", name]).stdout)
    assert found[name]["parameters"]["diff"] > 0
    project.run(["dvc", "plots", "diff", "HEAD", "wider", "-o", "difference"])
    page = (project.root / "difference" / "index.html").read_text()
    assert "classifier: validation accuracy" in page
    assert "classifier: confusion on test, all seeds" in page
    assert "wider" in page
