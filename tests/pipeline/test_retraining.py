"""`elman retrain` as a schedule runs it, with real trainings on a small data set."""

import json
import random
import sqlite3
import subprocess
import threading
import time

import pytest

from tests.helpers.project import Project
from tests.helpers.retraining import rows

EASY = {
    "dataset": {"tasks": ["classifier"], "test_fraction": 0.3},
    "tokenizer": {"vocab_size": 60},
    "experiment": {"cells": ["gru"], "seeds": [1]},
    "classifier": {"epochs": 8, "learning_rate": 0.02, "dropout": 0.0, "embedding_dropout": 0.0, "word_dropout": 0.0},
    "retraining": {"settle_seconds": 0.5, "margin": 0.05, "min_new_rows": 50},
}
HEADER = "text,label\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    (project.root / "reviews.csv").write_text(HEADER + "\n".join(rows(400, seed=1)) + "\n")
    project.change_params(EASY)
    project.run(["git", "rm", "-q", "--cached", "reviews.csv"])
    with (project.root / ".gitignore").open("a") as file:
        file.write("/reviews.csv\n")
    project.run(["git", "commit", "-qam", "settings"])
    return project


def retrain(project: Project, *arguments: str) -> tuple[int, dict]:
    done = subprocess.run(
        ["elman", "retrain", *arguments],
        cwd=project.root,
        env=project.environment(),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_of_two_jobs_at_once_one_promotes_the_first_champion_and_one_says_busy(project):
    found = {}

    def first() -> None:
        found["first"] = retrain(project)

    thread = threading.Thread(target=first)
    thread.start()
    lock = project.root / "retraining" / "lock"
    while not (lock.is_file() and lock.read_text()):
        time.sleep(0.1)
        assert thread.is_alive()
    code, outcome = retrain(project)
    assert (code, outcome["result"], outcome["exit_code"]) == (20, "busy", 20)
    thread.join()
    code, outcome = found["first"]
    assert (code, outcome["result"]) == (0, "promoted"), outcome
    assert outcome["gate"]["challenger_value"] > 0.8
    assert project.run(["git", "status", "--porcelain"]).stdout == "", "nothing was done in the working copy"


def test_with_nothing_new_there_is_nothing_to_do(project):
    code, outcome = retrain(project, "--json")
    assert (code, outcome["result"]) == (11, "nothing_to_do")
    found = json.loads(project.run(["elman", "status", "--json"]).stdout.splitlines()[-1])
    assert found["champion"]["number"] == 1
    assert [run["exit_code"] for run in found["runs"]] == [11, 0]


@pytest.mark.slow
def test_shuffled_labels_that_are_still_being_written_are_waited_for_and_not_promoted(project):
    if not (project.root / "retraining").is_dir():  # where the slow tests run alone
        assert retrain(project)[0] == 0
    lines = rows(400, seed=1)
    labels = [line.rsplit(",", 1)[1] for line in lines]
    random.Random(2).shuffle(labels)
    shuffled = [f"{line.rsplit(',', 1)[0]},{label}\n" for line, label in zip(lines, labels, strict=True)]
    path = project.root / "reviews.csv"
    path.write_text(HEADER + "".join(shuffled[:390]))

    def write() -> None:
        for line in shuffled[390:]:
            time.sleep(0.4)
            with path.open("a") as file:
                file.write(line)

    writer = threading.Thread(target=write)
    writer.start()
    code, outcome = retrain(project, "--force")
    writer.join()
    assert outcome["rows"] == 400
    assert (code, outcome["result"], outcome["challenger"]) == (10, "not_promoted", 2), outcome
    assert outcome["gate"]["champion_value"] > 0.8 > outcome["gate"]["challenger_value"]
    with sqlite3.connect(project.root / "mlruns" / "mlflow.db") as store:
        aliases = store.execute("select alias, version from registered_model_aliases").fetchall()
        statuses = store.execute("select distinct status from runs").fetchall()
        places = store.execute("select artifact_location from experiments where name like 'reviews%'").fetchall()
        results = store.execute("select value from tags where key = 'result'").fetchall()
    assert aliases == [("champion", 1)]
    assert statuses == [("FINISHED",)]
    assert all(str(project.root / "mlruns") in place for (place,) in places), "not in a clone, which goes away"
    assert sorted(value for (value,) in results if value != "nothing_to_do") == ["not_promoted", "promoted"]
