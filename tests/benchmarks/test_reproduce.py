"""The driver on a preset and a corpus of its own, in a copy of the project: each test goes on where the last ended."""

import json
import random
import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.helpers.project import ROOT, Project

COMMAND = ["python", "benchmarks/reproduce.py"]
EPOCHS = 25


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    (project.root / "benchmarks").mkdir()
    shutil.copy(ROOT / "benchmarks" / "reproduce.py", project.root / "benchmarks")
    shutil.copytree(ROOT / "presets", project.root / "presets")
    write_preset(project.root / "presets" / "small.yaml")
    write_corpus(project.root / "corpus")
    return project


def write_preset(path: Path) -> None:
    """PyTorch's recipe made small, for a text that the catalog does not know."""
    yaml = YAML()
    params = yaml.load((ROOT / "presets" / "ptb-word-language-model.yaml").read_text())
    params["dataset"].update({"path": "data/raw/small", "train": "train.txt", "valid": "valid.txt", "test": "test.txt"})
    params["tokenizer"]["vocab_size"] = 100
    params["language_model"].update({"embedding_dim": 8, "units": 8, "epochs": EPOCHS, "batch_size": 4})
    with path.open("w") as stream:
        yaml.dump(params, stream)


def write_corpus(folder: Path) -> None:
    """Lines of few words, some in two splits; 120, 30 and 30 of them."""
    chooser = random.Random(3)
    words = ["<unk>", "N", "the", "cat", "dog", "sat", "ran", "on", "a", "mat", "and", "it"]
    folder.mkdir()
    for name, rows in (("train", 120), ("valid", 30), ("test", 30)):
        lines = [" ".join(chooser.choices(words, k=chooser.randint(3, 9))) for _ in range(rows)]
        (folder / f"{name}.txt").write_text("\n".join([*lines, "the cat sat"]) + "\n")


def reproduce(project: Project, *arguments: str, succeeds: bool = True) -> str:
    return project.run([*COMMAND, *arguments], succeeds=succeeds).stdout


def test_an_unknown_preset_is_refused_with_the_names_that_there_are(project):
    text = reproduce(project, "ptb-word-languagemodel", succeeds=False)
    assert "did you mean ptb-word-language-model?" in text
    assert "ptb-word-language-model-untied, ptb-zaremba-small, " in text
    assert "small" in text
    assert "Traceback" not in text


def test_a_known_text_is_refused_where_a_file_is_another_one(project):
    for name in ("train", "valid", "test"):
        shutil.copy(project.root / "corpus" / f"{name}.txt", project.root / "corpus" / f"ptb.{name}.txt")
    text = reproduce(project, "ptb-zaremba-small", "--data", "corpus", succeeds=False)
    for name in ("train", "valid", "test"):
        assert f"corpus/ptb.{name}.txt: MD5 " in text
        (project.root / "corpus" / f"ptb.{name}.txt").unlink()
    assert "expected f26c4b92c5fdc7b3f8c7cdcb991d8420" in text
    assert not (project.root / "reproduce").exists()


def test_data_that_nobody_may_pass_on_must_be_named(project):
    text = reproduce(project, "ptb-zaremba-small", succeeds=False)
    assert "DATA=/path/to/folder with ptb.train.txt, ptb.valid.txt, ptb.test.txt" in text


@pytest.mark.slow
def test_a_killed_call_is_gone_on_with_by_the_same_call(project):
    folder = project.root / "reproduce" / "small"
    with project.started([*COMMAND, "small", "--data", "corpus"]) as process:
        for _ in range(1200):
            if list((folder / "checkpoints").rglob("*.npz")):
                break
            assert process.poll() is None, "the call ended before its first checkpoint"
            time.sleep(0.1)
    assert json.loads((folder / "state.json").read_text())["done"][-1] == "baseline language_model"
    text = reproduce(project, "small", "--data", "corpus")
    assert "-- prepare" not in text
    assert "-- train language_model lstm" in text
    assert "went on after epoch" in text
    assert f"epoch {EPOCHS}/{EPOCHS}" in text
    assert "small: no published figure stands in benchmarks/reproduce.py" in text


@pytest.mark.slow
def test_every_line_is_counted_also_those_that_stand_in_two_splits(project):
    folder = project.root / "reproduce" / "small"
    encoded = json.loads((folder / "data" / "encoded" / "summary.json").read_text())
    for split in ("train", "valid", "test"):
        words = (project.root / "corpus" / f"{split}.txt").read_text()
        assert encoded[split]["tokens"] == len(words.split()) + words.count("\n")
        assert encoded[split]["unk_tokens"] == words.count("<unk>")
    assert encoded["vocab_size"] == 12 + 3  # eleven words, unk, eos, pad, bos: "<unk>" is unk itself


@pytest.mark.slow
def test_the_main_pipeline_is_left_alone_and_shares_the_tracking_store(project):
    for name in ("data/prepared", "models", "reports", "checkpoints"):
        assert not (project.root / name).exists()
    assert not (project.root / "reproduce" / "small" / "mlruns").exists()
    with sqlite3.connect(project.root / "mlruns" / "mlflow.db") as store:
        runs = store.execute("select name, status from runs order by start_time").fetchall()
        tags = dict(store.execute("select key, value from tags where key = 'elman.folder'").fetchall())
    assert runs == [("lstm", "FINISHED"), ("lstm seed 1", "FINISHED")], "the killed call's own runs went on"
    assert tags == {"elman.folder": "reproduce/small"}
    assert not project.run(["git", "status", "--porcelain", "reproduce"]).stdout


@pytest.mark.slow
def test_the_report_names_the_command_that_makes_it(project):
    report = (project.root / "reproduce" / "small" / "reports" / "language_model" / "report.md").read_text()
    assert "make reproduce PRESET=small DATA=/path/to/corpus" in report
    assert "dvc repro" not in report


@pytest.mark.slow
def test_a_second_call_runs_nothing_and_gives_the_same_numbers(project):
    done = project.run([*COMMAND, "small", "--data", "corpus", "--json"])
    result = json.loads(done.stdout)
    comparison = project.root / "reproduce" / "small" / "reports" / "language_model" / "comparison.json"
    assert result["rows"] == [row for row in json.loads(comparison.read_text())["rows"] if row["kind"] == "cell"]
    assert 2.0 < result["rows"][0]["measures"]["perplexity"]["mean"] < 20.0
    assert result["published"] is None


@pytest.mark.slow
def test_changed_data_starts_again_and_a_stage_that_fails_names_itself(project):
    (project.root / "corpus" / "test.txt").write_text("\n\n")
    done = project.run([*COMMAND, "small", "--data", "corpus"], succeeds=False)
    assert done.returncode == 30
    assert "-- prepare" in done.stdout
    assert "the stage prepare failed; once that is mended, the same command goes on with it" in done.stdout
    assert "-- train_tokenizer" not in done.stdout
