"""Which models a server takes. Nothing here loads TensorFlow."""

from pathlib import Path

import pytest

from elman.cli_serve import _loaded
from elman.errors import ArtifactError, ConfigError
from elman.models.serving import Cleaning, Serving, TokenizerFile, write_serving
from elman.serving.choosing import names_of


def write(models: Path, task: str, cell: str, losses: dict[int, float]) -> None:
    own = {"labels": ("left", "right"), "max_length": 20}
    if task == "language_model":
        own = {"state": "document", "window_length": 7}
    shared = {"cleaning": Cleaning(unicode_form="NFC", lowercase=True, whitespace="collapse"), "mixed_precision": False}
    tokenizer = TokenizerFile(path="../../tokenizer", sha256="0" * 64)
    serving = Serving(task=task, cell=cell, tokenizer=tokenizer, valid_loss=losses, **shared, **own)
    (models / task / cell).mkdir(parents=True)
    write_serving(models / task / cell, serving)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    write(tmp_path, "classifier", "lstm", {1: 0.5, 2: 0.3})
    write(tmp_path, "classifier", "gru", {1: 0.4})
    write(tmp_path, "language_model", "gru", {1: 4.4})
    return tmp_path


def test_without_a_name_it_is_of_each_task_the_cell_with_the_best_seed(models: Path) -> None:
    assert names_of([], models=models) == ["classifier/lstm", "language_model/gru"]


def test_a_cell_stands_for_both_its_models_and_any_other_name_for_itself(models: Path) -> None:
    assert names_of(["gru"], models=models) == ["classifier/gru", "language_model/gru"]
    assert names_of(["lstm"], models=models) == ["classifier/lstm"]
    assert names_of(["work/package", "models:/a@champion"], models=models) == ["work/package", "models:/a@champion"]


def test_where_nothing_was_trained_it_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"holds no trained model; run `dvc repro`"):
        names_of([], models=tmp_path)


def test_two_models_of_a_task_and_a_wrong_name_are_refused_before_anything_is_loaded(models: Path) -> None:
    with pytest.raises(ConfigError, match="one of each; came classifier/gru, classifier/lstm"):
        _loaded(["classifier/gru", "classifier/lstm"], models)
    with pytest.raises(ArtifactError, match="did you mean classifier/lstm"):
        _loaded(["classifier/lstn"], models)
