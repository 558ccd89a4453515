"""What DVC makes of dvc.yaml: a classifier waits for the language models only where it starts from them."""

import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from elman.config import load_params
from tests.helpers.stage_deps import ROOT

START = "pipelines/start/{}-from-{}.json"
FILES = [ROOT / "params.yaml", *sorted((ROOT / "presets").glob("*.yaml"))]


def resolved(folder: Path, pretrain: str) -> dict[str, dict]:
    """The stages of dvc.yaml as DVC resolves them, with another start of the classifiers."""
    from dvc.parsing import DataResolver
    from dvc.repo import Repo

    yaml = YAML()
    params = yaml.load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["classifier"]["pretrain"] = pretrain
    with (folder / "params.yaml").open("w", encoding="utf-8") as stream:
        yaml.dump(params, stream)
    shutil.copy(ROOT / "dvc.yaml", folder)
    document = YAML(typ="safe").load((folder / "dvc.yaml").read_text(encoding="utf-8"))
    with Repo(str(folder), uninitialized=True) as repo:
        return DataResolver(repo, str(folder), document).resolve()["stages"]


@pytest.mark.parametrize("pretrain", ["none", "language_model"])
def test_train_depends_on_the_file_of_its_task_and_its_start(tmp_path: Path, pretrain: str) -> None:
    stages = resolved(tmp_path, pretrain)
    for name in ("train@classifier-lstm", "train@language_model-gru"):
        task = name.removeprefix("train@").partition("-")[0]
        starts = [dep for dep in stages[name]["deps"] if dep.startswith("pipelines/start/")]
        assert starts == [START.format(task, pretrain)]
        assert not any(dep.startswith("models/language_model") for dep in stages[name]["deps"])


def test_only_the_file_of_classifiers_that_start_from_language_models_is_made_and_from_them() -> None:
    folder = ROOT / "pipelines" / "start"
    stages = YAML(typ="safe").load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    assert list(stages) == ["list_weights"]
    made = stages["list_weights"]
    assert made["outs"] == [START.format("classifier", "language_model")]
    assert [dep for dep in made["deps"] if not dep.endswith(".py")] == ["models/language_model"]
    assert made["outs"][0] in (ROOT / ".gitignore").read_text(encoding="utf-8")
    in_git = {file.name for file in folder.glob("*.json")} - {Path(made["outs"][0]).name}
    kinds = [("classifier", "none"), ("language_model", "none"), ("language_model", "language_model")]
    assert in_git == {Path(START.format(*kind)).name for kind in kinds}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_params_files_hold_the_key_that_dvc_reads(file: Path) -> None:
    document = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
    assert document["classifier"]["pretrain"] == load_params(file).classifier.pretrain == "none"
