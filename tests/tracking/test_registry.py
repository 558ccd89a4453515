"""Registered packages: which runs they may come from, and who may move the champion."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from elman.errors import ArtifactError, RegistryError
from elman.packages.package import open_package
from elman.tracking.named import fetched
from elman.tracking.registry import CHAMPION, PREVIOUS, Registry, registered_name
from elman.tracking.tracker import Tracker
from tests.helpers.packages import write_plain_package


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("packages")
    return [write_plain_package(folder / str(seed), seed=seed) for seed in range(4)]


@pytest.fixture
def registry(root: Path, request: pytest.FixtureRequest) -> Registry:
    return Registry.open(root, registered_name(request.node.name, "classifier"))


@pytest.fixture
def run_id(tracker: Tracker) -> Iterator[str]:
    with tracker.parent_run(task="classifier", cell="gru", params={}) as run:
        pass
    return run.run_id


def _stored(registry: Registry, number: int) -> Path:
    """Where the store keeps a version's MLflow model."""
    return Path(registry.client.get_model_version(registry.name, str(number)).source.removeprefix("file://"))


def test_a_package_comes_back_as_it_was(registry: Registry, packages: list[Path], run_id: str, tmp_path: Path) -> None:
    number = registry.add(packages[2], run_id=run_id, tags={"reason": "new rows"})
    version = registry.version(number)
    assert version is not None
    assert (version.number, version.run_id, version.aliases) == (1, run_id, ())
    assert version.tags == {
        "reason": "new rows", "package_hash": open_package(packages[2]).hash, "task": "classifier", "cell": "gru",
        "seed": "2",
    }  # fmt: skip
    assert timedelta() <= datetime.now(UTC) - version.created < timedelta(minutes=5)
    folder = registry.fetch(number, tmp_path / "into")
    assert open_package(folder).hash == version.package_hash
    (folder / "serving.json").write_text("{}")
    assert open_package(registry.fetch("1", tmp_path / "into")).hash == version.package_hash
    assert [path.name for path in (tmp_path / "into").iterdir()] == [folder.name]


def test_what_is_registered_can_be_served_and_holds_no_pickle(
    registry: Registry, packages: list[Path], run_id: str
) -> None:
    import mlflow.models

    registry.add(packages[0], run_id=run_id, tags={})
    folder = _stored(registry, 1)
    described = mlflow.models.Model.load(str(folder))
    assert described.flavors["python_function"]["loader_module"] == "elman.served_model"
    assert described.flavors["python_function"]["data"] == "data/package"
    assert described.get_input_schema().input_names() == ["text"]
    assert described.get_output_schema().input_names() == ["label", "probability", "probabilities"]
    assert described.saved_input_example_info["type"] == "json_object"
    files = list(folder.rglob("*"))
    assert not [path for path in files if path.suffix in (".pkl", ".pickle", ".joblib", ".h5", ".py")]
    assert not any(path.read_bytes().startswith(b"\x80") for path in files if path.is_file())


@pytest.mark.parametrize("status", ["RUNNING", "KILLED", "FAILED"])
def test_a_run_that_did_not_end_well_is_not_registered_nor_its_children_nor_promoted(
    registry: Registry, tracker: Tracker, packages: list[Path], run_id: str, status: str
) -> None:
    with (
        tracker.parent_run(task="classifier", cell="gru", params={}) as parent,
        parent.child_run(seed=1, params={}) as child,
    ):
        pass
    number = registry.add(packages[0], run_id=child.run_id, tags={})
    parent.set_status(status)
    for one in (parent.run_id, child.run_id):
        with pytest.raises(
            RegistryError, match=rf"the run {parent.run_id} \(gru\) is {status}, and only of a FINISHED"
        ):
            registry.add(packages[0], run_id=one, tags={})
    with pytest.raises(RegistryError, match=status):
        registry.promote(number, expected=None)
    assert [version.number for version in registry.versions()] == [number]
    assert registry.version(CHAMPION) is None
    parent.set_status("FINISHED")


def test_a_run_that_is_not_there_or_a_damaged_package_is_not_registered(
    registry: Registry, packages: list[Path], run_id: str, tmp_path: Path
) -> None:
    with pytest.raises(RegistryError, match=f"the run {'0' * 32} is not in this store"):
        registry.add(packages[0], run_id="0" * 32, tags={})
    damaged = shutil.copytree(packages[0], tmp_path / "damaged")
    (damaged / "model/model.json").write_text("{}")
    with pytest.raises(ArtifactError, match="was changed"):
        registry.add(damaged, run_id=run_id, tags={})
    assert registry.versions() == []


def test_a_package_from_elsewhere_gets_a_run_of_its_own(registry: Registry, packages: list[Path]) -> None:
    version = registry.version(registry.add(packages[1], run_id=None, tags={}))
    assert version is not None
    run = registry.client.get_run(version.run_id)
    assert (run.info.status, run.data.tags["elman.level"], run.data.params["seed"]) == ("FINISHED", "package", "1")


def test_the_champion_moves_to_previous_and_back(
    registry: Registry, packages: list[Path], run_id: str, tmp_path: Path
) -> None:
    one, two, three = (registry.add(packages[seed], run_id=run_id, tags={}) for seed in (1, 2, 3))
    registry.promote(one, expected=None)
    assert (_number(registry, CHAMPION), _number(registry, PREVIOUS)) == (one, None)
    with pytest.raises(RegistryError, match=r"there is no version before the champion to bring back.*: 3, 2, 1"):
        registry.rollback()
    registry.promote(three, expected=one)
    registry.promote(three, expected=three)
    assert (_number(registry, CHAMPION), _number(registry, PREVIOUS)) == (three, one)
    with pytest.raises(RegistryError, match="the champion is version 3, and version 1 was expected"):
        registry.promote(two, expected=one)
    with pytest.raises(RegistryError, match="the champion is version 3, and none was expected"):
        registry.promote(two, expected=None)
    with pytest.raises(RegistryError, match="no version 9; these are there: 3, 2, 1"):
        registry.promote(9, expected=three)
    assert open_package(registry.fetch(CHAMPION, tmp_path)).seed == 3
    back = registry.rollback()
    assert (back.number, back.aliases) == (one, ("champion",))
    assert (_number(registry, CHAMPION), _number(registry, PREVIOUS)) == (one, None)


def _number(registry: Registry, alias: str) -> int | None:
    version = registry.version(alias)
    return None if version is None else version.number


def test_a_champion_that_somebody_else_moves_meanwhile_is_noticed(
    registry: Registry, packages: list[Path], run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (registry.add(packages[seed], run_id=run_id, tags={}) for seed in (1, 2, 3))
    registry.promote(one, expected=None)
    move = registry.client.set_registered_model_alias

    def interrupted(name: str, alias: str, version: str) -> None:
        move(name, alias, version)
        move(name, CHAMPION, str(three))

    monkeypatch.setattr(registry.client, "set_registered_model_alias", interrupted)
    with pytest.raises(RegistryError, match="the champion is version 3, and version 1 was expected"):
        registry.promote(two, expected=one)
    assert _number(registry, CHAMPION) == three


def test_of_jobs_that_promote_at_once_one_wins_and_the_others_are_told(
    root: Path, registry: Registry, packages: list[Path], run_id: str
) -> None:
    numbers = [registry.add(package, run_id=run_id, tags={}) for package in packages]
    first, *others = numbers
    registry.promote(first, expected=None)

    def promoted(number: int) -> bool:
        try:
            Registry.open(root, registry.name).promote(number, expected=first)
        except RegistryError:
            return False
        return True

    with ThreadPoolExecutor(3) as pool:
        won = [number for number, moved in zip(others, pool.map(promoted, others), strict=True) if moved]
    assert won == [_number(registry, CHAMPION)]
    assert _number(registry, PREVIOUS) == first


def test_a_version_is_deleted_with_its_files_but_never_one_in_use(
    registry: Registry, packages: list[Path], run_id: str
) -> None:
    one, twice, again, two = (registry.add(packages[seed], run_id=run_id, tags={}) for seed in (1, 3, 3, 2))
    registry.promote(one, expected=None)
    registry.promote(two, expected=one)
    for number, alias in ((one, "previous"), (two, "champion")):
        with pytest.raises(RegistryError, match=f"is {alias}, which is never deleted"):
            registry.delete(number)
    files = _stored(registry, again)
    registry.delete(twice)
    assert files.is_dir()  # `again` has the same files
    registry.delete(again)
    assert not files.exists()
    assert _stored(registry, one).is_dir()
    assert [version.number for version in registry.versions()] == [two, one]
    assert registry.version(again) is None
    with pytest.raises(RegistryError, match="no version 2"):
        registry.delete(twice)


def test_a_version_whose_files_were_changed_is_neither_given_out_nor_promoted(
    registry: Registry, packages: list[Path], run_id: str, tmp_path: Path
) -> None:
    good, bad = (registry.add(packages[seed], run_id=run_id, tags={}) for seed in (1, 2))
    registry.promote(good, expected=None)
    source = _stored(registry, bad)
    (source / "data/package/model/model.json").write_text("{}")
    with pytest.raises(RegistryError, match=r"version 2: its package is refused: .*model\.json: was changed"):
        registry.promote(bad, expected=good)
    shutil.rmtree(source / "data/package")
    shutil.copytree(packages[3], source / "data/package")
    with pytest.raises(RegistryError, match="its files are of another package"):
        registry.fetch(bad, tmp_path)
    assert _number(registry, CHAMPION) == good
    assert list(tmp_path.iterdir()) == []


def test_a_registered_model_has_an_address(
    root: Path, registry: Registry, packages: list[Path], run_id: str, tmp_path: Path
) -> None:
    registry.promote(registry.add(packages[3], run_id=run_id, tags={}), expected=None)
    for address in (f"models:/{registry.name}@champion", f"models:/{registry.name}/1"):
        with fetched(address, root=root) as folder:
            assert open_package(folder).seed == 3
        assert not folder.exists()
    for address, message in (
        (f"models:/{registry.name}@previous", "no version 'previous'; these are there: 1"),
        (f"models:/{registry.name}", r"models:/<name>@<alias> or models:/<name>/<version>"),
        ("models:/../x@champion", "models:/<name>@<alias>"),
        ("models:/nothing@champion", rf"nothing of this name is registered in .*{registry.name}"),
    ):
        with pytest.raises(RegistryError, match=message), fetched(address, root=root):
            pass
    with pytest.raises(RegistryError, match="no tracking store here"), fetched("models:/a@b", root=tmp_path):
        pass
