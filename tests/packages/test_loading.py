"""Packages of real models: what goes in comes out, and what computes otherwise is refused."""

import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import elman
from elman.artifacts import read_json, write_json
from elman.cli import app
from elman.errors import ArtifactError
from elman.packages import writing
from elman.packages.finding import find
from elman.packages.loading import load_package
from elman.packages.package import MANIFEST, open_package
from elman.packages.writing import write_package
from tests.helpers.packages import sign
from tests.helpers.served_models import LABELS, random_texts, write_served

TEXTS = random_texts(7)
ABOUT = {
    "params": {"units": 5, "rate": 0.003},
    "metrics": {"accuracy": {"mean": 0.9}},
    "provenance": {"commit": "4f2c"},
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline's models, and packages of them in a folder of their own."""
    root = tmp_path_factory.mktemp("served")
    cell = write_served(root, losses={3: 0.4, 4: 0.2}, cell="gru")
    other = write_served(root, task="language_model", cell="simple_rnn")
    write_package(cell, root / "packages" / "classifier", **ABOUT)
    write_package(other, root / "packages" / "language_model", **ABOUT)
    return root


@pytest.fixture
def package(root: Path, tmp_path: Path) -> Path:
    """A copy of the classifier's package, without the models that it was made of."""
    return shutil.copytree(root / "packages" / "classifier", tmp_path / "package")


def test_a_package_answers_as_the_best_seed_of_its_cell_does(root: Path, package: Path) -> None:
    ours, theirs = elman.load(package), elman.load(root / "models/classifier/gru/seed-4")
    assert (ours.seed, ours.labels, ours.max_length) == (4, LABELS, theirs.max_length)
    assert ours.folder == package
    texts = [*TEXTS, "", "ÜBER  the\tkeys"]
    for one, other in zip(ours.classify(texts), theirs.classify(texts), strict=True):
        assert one == other


def test_a_language_models_package_scores_as_its_cell_does(root: Path) -> None:
    ours = load_package(root / "packages/language_model")
    theirs = elman.load(root / "models/language_model/simple_rnn")
    assert [one.nll_nats for one in ours.score(TEXTS)] == [one.nll_nats for one in theirs.score(TEXTS)]


def test_a_package_says_what_its_model_was_made_of(package: Path) -> None:
    manifest = open_package(package).manifest
    assert (manifest.params, manifest.metrics, manifest.provenance) == tuple(ABOUT.values())
    assert set(manifest.versions) == {"elman", "keras", "tensorflow", "sentencepiece", "python"}
    texts = [probe.text for probe in manifest.probes]
    assert len(set(texts)) == 8
    assert "" in texts
    assert all(len(probe.probabilities or ()) == len(LABELS) for probe in manifest.probes)
    spread = np.std([probe.probabilities for probe in manifest.probes], axis=0)
    assert spread.max() > 0.01  # texts on which another model would answer otherwise


def test_the_same_model_makes_the_same_package_and_another_seed_another_one(root: Path, tmp_path: Path) -> None:
    cell = root / "models/classifier/gru"
    again, other = (write_package(cell, tmp_path / str(seed), seed=seed, **ABOUT) for seed in (4, 3))
    assert again.hash == open_package(root / "packages/classifier").hash
    assert other.seed == 3
    assert other.hash != again.hash
    assert stat.S_IMODE((tmp_path / "3").stat().st_mode) == stat.S_IMODE(tmp_path.stat().st_mode) | 0o055


@pytest.mark.parametrize("change", [1e-7, 1e-4, None])
def test_a_prediction_that_differs_by_more_than_rounding_is_refused(package: Path, change: float | None) -> None:
    probes = read_json(package / MANIFEST)["probes"]
    first, *rest = probes[5]["probabilities"]
    probes[5]["probabilities"] = [first + change, *rest] if change is not None else [first, 1.0 - first]
    sign(package, probes=probes)
    if change == 1e-7:
        load_package(package)
        return
    with pytest.raises(ArtifactError, match=r"answer to stored text 6 differs by .*The versions are those that it was"):
        load_package(package)


def test_a_difference_names_the_versions_that_are_others_here(root: Path, tmp_path: Path) -> None:
    package = shutil.copytree(root / "packages/language_model", tmp_path / "package")
    manifest = read_json(package / MANIFEST)
    manifest["probes"][7]["nll_nats"] *= 1.001
    write_json(package / MANIFEST, {**manifest, "versions": {**manifest["versions"], "keras": "3.14.0"}})
    with pytest.raises(ArtifactError, match=r"stored text 8 differs by 0\.000.*written with keras 3\.14\.0 \(here 3"):
        load_package(package)


def test_weights_of_another_training_are_refused_although_the_hashes_are_right(root: Path, package: Path) -> None:
    for name in ("model.keras", "model.json"):
        shutil.copy(root / "models/classifier/gru/seed-3" / name, package / "model" / name)
    sign(package)
    with pytest.raises(ArtifactError, match="answer to stored text 1 differs"):
        load_package(package)


def test_a_write_that_fails_leaves_nothing_and_nothing_is_overwritten(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = root / "models/classifier/gru"
    with pytest.raises(ArtifactError, match="not finite"):
        write_package(cell, tmp_path / "new", **{**ABOUT, "metrics": {"accuracy": float("nan")}})
    with pytest.raises(ArtifactError, match=r"seed-9: no such model|seed-9"):
        write_package(cell, tmp_path / "new", seed=9, **ABOUT)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "new").mkdir()
    monkeypatch.setattr(writing, "predict_probes", None)  # not reached
    with pytest.raises(ArtifactError, match="is there already"):
        write_package(cell, tmp_path / "new", **ABOUT)


def test_commands_take_a_package(package: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(app, ["classify", str(package), "the old key"], catch_exceptions=False)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1].split()[1] == elman.load(package).classify(["the old key"])[0].label
    assert done.stderr == f"model: {package}, a package of gru with the seed 4\n"
    with pytest.raises(ArtifactError, match="this is a classifier, not a language model: `elman classify`"):
        find(package, models=Path("models"), task="language_model")
    (package / "more.pkl").write_bytes(b"x")
    with pytest.raises(ArtifactError, match=r"more\.pkl"):
        elman.load(package)
