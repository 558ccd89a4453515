"""`elman.load`: which model a name means, and what it refuses to load."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import elman
from elman.artifacts import read_json, write_json
from elman.errors import ArtifactError
from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel
from tests.helpers.served_models import write_served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    write_served(root, losses={1: 0.5, 2: 0.25, 5: 0.75}, cell="gru")
    write_served(root, cell="simple_rnn")
    write_served(root, task="language_model", cell="simple_rnn")
    return root


@pytest.fixture
def root(served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that a test may damage, as the current folder."""
    shutil.copytree(served / "models", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_importing_elman_loads_no_tensorflow() -> None:
    loaded = "{'tensorflow', 'keras', 'keras_hub', 'sentencepiece'} & set(sys.modules)"
    code = f"import sys, elman; assert elman.load and not {loaded}"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "name", ["gru", "classifier/gru", "models/classifier/gru", Path("models/classifier/gru/seed-2")]
)
def test_a_cell_is_its_best_seed_on_validation(root: Path, name: str | Path) -> None:
    model = elman.load(name)
    assert isinstance(model, TextClassifier)
    assert (model.seed, model.folder) == (2, Path("models/classifier/gru/seed-2"))
    assert model.model.spec.seed == 2


def test_a_seeds_folder_is_that_seed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert elman.load("models/classifier/gru/seed-5").seed == 5
    monkeypatch.chdir("models/classifier/gru/seed-5")
    assert elman.load(".").seed == 5


def test_a_cell_that_stands_for_both_tasks_needs_one(root: Path) -> None:
    with pytest.raises(ArtifactError, match=r"both tasks: say classifier/simple_rnn or language_model/simple_rnn"):
        elman.load("simple_rnn")
    assert isinstance(elman.load("simple_rnn", task="language_model"), TextLanguageModel)
    assert isinstance(elman.load("simple_rnn", models=root / "models", task="classifier"), TextClassifier)
    with pytest.raises(ArtifactError, match=r"this is a language model, not a classifier: `elman score`"):
        elman.load("models/language_model/simple_rnn", task="classifier")


@pytest.mark.parametrize("name", ["gruu", "clasifier/gru", "models/classifier/lstm"])
def test_an_unknown_name_says_what_there_is(root: Path, name: str) -> None:
    known = "classifier/gru, classifier/simple_rnn, language_model/simple_rnn"
    with pytest.raises(ArtifactError, match=rf"{name}.*no such model;.*holds {known}"):
        elman.load(name)


def test_a_text_in_the_place_of_the_model_is_told_as_such(root: Path) -> None:
    text = "wheat exports rose " * 50  # longer than a name of a file can be
    with pytest.raises(ArtifactError, match=r"wheat [^/]{60,90}\.\.\.': no such model\. The model comes first"):
        elman.load(text, task="classifier")
    with pytest.raises(ArtifactError, match=r"task: classifier or language_model, .* but came 'lm'"):
        elman.load("simple_rnn", task="lm")


def test_without_serving_json_a_folder_is_not_whole(root: Path) -> None:
    (root / "models/classifier/gru/serving.json").unlink()
    with pytest.raises(ArtifactError, match=r"serving\.json: no such file: training has not ended.*dvc repro"):
        elman.load("gru")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version: Input should be 1"),
        ({"labels": None}, "labels is needed for a classifier"),
        ({"labels": ["a", "b"]}, "the model has 3 classes, serving.json names 2"),
        ({"valid_loss": {}}, "valid_loss"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        (
            {"task": "language_model", "state": "stream", "window_length": 3},
            "is of a language_model",
        ),
    ],
)
def test_a_serving_json_that_does_not_fit_is_refused(root: Path, change: dict, message: str) -> None:
    path = root / "models/classifier/gru/serving.json"
    write_json(path, {**read_json(path), **change})
    with pytest.raises(ArtifactError, match=message):
        elman.load("models/classifier/gru")


def test_another_tokenizer_is_refused(root: Path) -> None:
    path = root / "models/tokenizer/tokenizer.json"
    write_json(path, {**read_json(path), "sha256": "a" * 64})
    with pytest.raises(ArtifactError, match=re.escape(f"another tokenizer (sha256 {'a' * 64})")):
        elman.load("gru")


def test_a_seed_that_was_not_trained_with_the_others_is_refused(root: Path) -> None:
    folder = root / "models/classifier/gru"
    (folder / "seed-5").rename(folder / "seed-9")
    with pytest.raises(ArtifactError, match=r"knows the seeds \[1, 2, 5\] only"):
        elman.load(folder / "seed-9")


def test_mixed_precision_is_the_models_own_and_not_left_behind(root: Path) -> None:
    import keras

    path = root / "models/classifier/gru/serving.json"
    path.write_text(json.dumps({**read_json(path), "mixed_precision": True}))
    assert elman.load("gru").model.encoder.compute_dtype == "bfloat16"
    assert keras.mixed_precision.global_policy().name == "float32"
