"""The examples of docs/python.md, run: training, use, streams, without DVC and MLflow."""

import sys
from pathlib import Path

import pytest

import elman
from elman.artifacts import read_json
from elman.config import parse_params
from elman.errors import ConfigError
from tests.helpers.project import write_reviews
from tests.helpers.served_models import write_served
from tests.helpers.stage_deps import ROOT

EXAMPLES = [part.split("```")[0] for part in (ROOT / "docs" / "python.md").read_text().split("```python\n")[1:]]


def example(title: str) -> str:
    (found,) = [text for text in EXAMPLES if title in text]
    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_ten_lines_train_a_model_from_a_csv_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_reviews(project / "reviews.csv", rows=60)
    seen = set(sys.modules)
    text = example("elman.train(params")
    exec(text, found := {})
    assert len([line for line in text.splitlines() if line]) <= 10
    assert "Classification(label=" in capsys.readouterr().out.splitlines()[-1]
    loaded = elman.load("work/models/classifier/gru")
    assert loaded.classify(["a warm film"]) == found["model"].classify(["a warm film"])
    assert loaded.labels == ("bad", "good")
    assert not {"mlflow", "dvc"} & (set(sys.modules) - seen)
    # A second call keeps what was trained, and another task finds the same tokenizer.
    before = (project / "work/models/classifier/gru/seed-1/model.keras").stat().st_mtime_ns
    elman.train(found["params"], task="classifier", cell="gru", out="work")
    assert (project / "work/models/classifier/gru/seed-1/model.keras").stat().st_mtime_ns == before
    assert read_json(project / "work/models/tokenizer/tokenizer.json")["vocab_size"] <= 60


def test_the_objects_below_train_without_files(capsys: pytest.CaptureFixture[str]) -> None:
    exec(example("from elman.training.loop import fit"), {})
    assert float(capsys.readouterr().out.splitlines()[-1]) > 0.9


@pytest.mark.parametrize("title", ['elman.load("models/classifier/lstm")', "elman.Stream("])
def test_the_examples_of_use_run(project: Path, title: str) -> None:
    write_served(project, cell="lstm")
    write_served(project, task="language_model", cell="lstm")
    exec(example(title), found := {})
    if "stream" in found:
        assert found["rest"][-1].piece == "</s>"
        assert elman.Stream.from_bytes(found["stream"]._model, found["saved"]).finish() == found["rest"]


def test_a_task_that_the_data_is_not_prepared_for_is_refused(project: Path) -> None:
    size = {"embedding_dim": 4, "units": 4, "learning_rate": 0.01, "epochs": 1, "batch_size": 8}
    sections = {name: {} for name in ("prepare", "tokenizer", "compute")}
    params = parse_params({
        "dataset": {"path": "tales.txt", "tasks": ["language_model"]}, **sections,
        "experiment": {"cells": ["gru"], "seeds": [1]}, "classifier": size, "language_model": size,
    })  # fmt: skip
    with pytest.raises(ConfigError, match=r"dataset\.tasks: 'classifier' is needed, but came \['language_model'\]"):
        elman.train(params, task="classifier", cell="gru", out="work")
    with pytest.raises(ConfigError, match="cell: one of simple_rnn, lstm, gru is needed, but came 'GRU'"):
        elman.train(params, task="language_model", cell="GRU", out="work")
