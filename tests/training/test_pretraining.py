"""A classifier that starts from a language model: what is copied, what is not, and what is refused."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from elman.artifacts import read_json, write_json
from elman.errors import ArtifactError, ConfigError
from elman.models.device import DevicePlan
from elman.models.serving import Cleaning, Serving, TokenizerFile, write_serving
from elman.models.spec import ModelSpec
from elman.models.store import build_model, save_model
from elman.training.plan import make_plan, plan_lines
from elman.training.pretraining import copy_start, read_start, write_start
from elman.training.weight_list import list_weights

SHAPE = {"cell": "lstm", "vocab_size": 30, "embedding_dim": 4, "units": 5, "num_layers": 2}
CLASSIFIER = ModelSpec(task="classifier", num_classes=3, pooling="all", seed=9, **SHAPE)
SHA = "5" * 64


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """models/language_model/lstm/seed-3 and the tokenizer that it reads with."""
    root = tmp_path_factory.mktemp("models")
    write_json(root / "tokenizer" / "tokenizer.json", {"sha256": SHA})
    write_json(root / "other" / "tokenizer.json", {"sha256": "6" * 64})
    cell = root / "language_model" / "lstm"
    save_model(build_model(ModelSpec(task="language_model", seed=3, **SHAPE)), cell / "seed-3")
    serving = Serving(
        task="language_model",
        cell="lstm",
        cleaning=Cleaning(unicode_form="NFC", lowercase=False, whitespace="collapse"),
        tokenizer=TokenizerFile(path="../../tokenizer", sha256=SHA),
        mixed_precision=False,
        state="document",
        window_length=8,
        valid_loss={3: 1.0},
    )
    write_serving(cell, serving)
    return root


def test_embedding_and_recurrent_layers_are_the_language_models_and_the_head_is_the_seeds(root: Path) -> None:
    source, drawn, model = (
        build_model(spec) for spec in (ModelSpec(task="language_model", seed=3, **SHAPE), CLASSIFIER, CLASSIFIER)
    )
    start = read_start(root / "language_model" / "lstm" / "seed-3", tokenizer=root / "tokenizer")
    copy_start(model, start)
    for own, theirs in zip(model.encoder.weights, source.encoder.weights, strict=True):
        np.testing.assert_array_equal(np.asarray(own), np.asarray(theirs))
    for own, first in zip(model.head.weights, drawn.head.weights, strict=True):
        np.testing.assert_array_equal(np.asarray(own), np.asarray(first))
    changed = [not np.array_equal(a, b) for a, b in zip(model.get_weights(), drawn.get_weights(), strict=True)]
    assert sum(changed) >= 5  # embedding, and two matrices a layer; biases begin alike
    assert list(start.weights) == [
        "embedding/embeddings",
        *(f"lstm_{layer}/{name}" for layer in (1, 2) for name in ("kernel", "recurrent_kernel", "bias")),
    ]


def test_what_is_copied_stands_beside_the_model_and_in_the_plan(root: Path, tmp_path: Path) -> None:
    folder = root / "language_model" / "lstm" / "seed-3"
    start = read_start(folder, tokenizer=root / "tokenizer")
    assert read_start(folder, tokenizer=root / "tokenizer").sha256 == start.sha256
    write_start(tmp_path, start)
    found = read_json(tmp_path / "start.json")
    assert found == {"version": 1, "source": folder.as_posix(), "sha256": start.sha256, "copied": list(start.weights)}
    write_start(tmp_path, None)
    assert list(tmp_path.iterdir()) == []
    device = DevicePlan("cpu", "all threads", "float32", deterministic=False)
    plan = make_plan(build_model(CLASSIFIER), device, start=start)
    assert plan_lines(plan)[1].startswith(f"  starts from {folder.as_posix()} (embedding/embeddings, lstm_1/kernel")
    assert make_plan(build_model(CLASSIFIER), device)["start"] is None


@pytest.mark.parametrize("change", [{"units": 6}, {"embedding_dim": 3}, {"num_layers": 1}, {"vocab_size": 31}])
def test_other_shapes_are_refused_with_the_weight_named(root: Path, change: dict[str, int]) -> None:
    start = read_start(root / "language_model" / "lstm" / "seed-3", tokenizer=root / "tokenizer")
    model = build_model(dataclasses.replace(CLASSIFIER, **change))
    with pytest.raises(
        ConfigError, match=r"classifier.pretrain: .*seed-3 does not fit: \w+/\w+ is .* there and .* here"
    ):
        copy_start(model, start)


def test_another_tokenizer_or_no_language_model_is_refused(root: Path) -> None:
    with pytest.raises(ArtifactError, match=r"learned with the tokenizer 555555555555, and .*other is 666666666666"):
        read_start(root / "language_model" / "lstm" / "seed-3", tokenizer=root / "other")
    with pytest.raises(ArtifactError, match="no such file"):
        read_start(root / "language_model" / "lstm" / "seed-4", tokenizer=root / "tokenizer")


def test_the_list_for_dvc_changes_with_the_weights_alone(root: Path) -> None:
    cell = root / "language_model" / "lstm"
    before = list_weights(root / "language_model")
    assert list(before["models"]) == ["lstm"]
    assert list(before["models"]["lstm"]) == ["3"]
    write_json(cell / "summary.json", {"train_seconds": 3.5})
    assert list_weights(root / "language_model") == before
    with pytest.raises(ArtifactError, match="holds no trained model"):
        list_weights(root / "tokenizer")
