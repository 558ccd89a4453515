"""A checkout that was moved finds its artifacts again."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from elman.cli import app
from elman.errors import TrackingError
from elman.tracking.health import check_store
from elman.tracking.relocate import relocate_store
from elman.tracking.store import open_client
from elman.tracking.tracker import Tracker


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, with_store: Callable[[Path], Path]) -> tuple[Path, str]:
    """A checkout with a run, its artifact, a logged model and a registered one; and the run."""
    root = with_store(tmp_path_factory.mktemp("old place") / "été")
    (root / "plan.json").write_text('{"units": 8}')
    with Tracker.open(root=root, experiment="r8 classifier") as tracker:
        with tracker.parent_run(task="classifier", cell="gru", params={}) as run:
            run.log_artifact(root / "plan.json", "model")
        client = tracker.client
        uri = client.get_run(run.run_id).info.artifact_uri
        client.create_registered_model("r8 classifier")
        client.create_model_version("r8 classifier", f"{uri}/model", run.run_id)
        client.create_model_version("r8 classifier", str(root / "mlruns" / "artifacts" / "packages" / "2"))
        client.create_model_version("r8 classifier", f"runs:/{run.run_id}/model", run.run_id)
        client.create_logged_model(tracker.experiment_id, name="gru", source_run_id=run.run_id)
    return root, run.run_id


@pytest.fixture
def moved(whole: tuple[Path, str], tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole[0], tmp_path / "new" / "checkout"))


def paths(root: Path) -> list[str]:
    """All places that the store names."""
    found = []
    with sqlite3.connect(root / "mlruns" / "mlflow.db") as store:
        for table, column in (("experiments", "artifact_location"), ("runs", "artifact_uri")):
            found += store.execute(f"select {column} from {table} where experiment_id > 0").fetchall()
        found += store.execute("select artifact_location from logged_models").fetchall()
        found += store.execute("select source from model_versions order by version").fetchall()
    return [value for (value,) in found]


def test_a_moved_checkout_is_found_by_the_doctor_and_mended_in_all_its_tables(
    whole: tuple[Path, str], moved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, run_id = whole
    before = (moved / "mlruns" / "mlflow.db").read_bytes()
    [problem] = check_store(moved).problems
    assert "run `elman relocate` here" in problem
    assert str(old / "mlruns") in problem
    assert (moved / "mlruns" / "mlflow.db").read_bytes() == before

    monkeypatch.chdir(moved)
    result = CliRunner().invoke(app, ["relocate", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["places"] == [str(old / "mlruns")]
    assert found["changed"]["runs"] == found["changed"]["logged_models"] == 1
    assert found["changed"]["model_versions"] >= 2
    places = [place for place in paths(moved) if not place.startswith("runs:/")]
    assert len(places) == 5
    for place in places:
        assert place.removeprefix("file://").startswith((str(moved / "mlruns"), (moved / "mlruns").as_uri()[7:]))
    assert not any(old.as_uri() in place or str(old) in place for place in paths(moved))
    with sqlite3.connect(found["backup"]) as backup:
        assert backup.execute("select artifact_uri from runs").fetchone()[0].startswith(old.as_uri())

    assert check_store(moved).problems == ()
    with Tracker.open(root=moved, experiment="r8 classifier") as tracker:
        [file] = (moved / "mlruns" / "artifacts").rglob("plan.json")
        file.write_text("the copy in the new place")
        kept = tracker.client.download_artifacts(run_id, "model/plan.json")
        assert Path(kept).read_text() == "the copy in the new place"
        source = tracker.client.get_model_version("r8 classifier", "1").source
        assert source == f"{tracker.client.get_run(run_id).info.artifact_uri}/model"
        assert tracker.client.get_model_version("r8 classifier", "3").source == f"runs:/{run_id}/model"
    assert relocate_store(moved) == ((), {}, None)


def test_a_store_whose_artifacts_stayed_behind_is_left_as_it_is(moved: Path) -> None:
    before = (moved / "mlruns" / "mlflow.db").read_bytes()
    shutil.rmtree(moved / "mlruns" / "artifacts")
    with pytest.raises(TrackingError, match="did not come along"):
        relocate_store(moved)
    assert (moved / "mlruns" / "mlflow.db").read_bytes() == before


def test_a_change_that_breaks_in_the_middle_changes_nothing(moved: Path) -> None:
    before = paths(moved)
    with sqlite3.connect(moved / "mlruns" / "mlflow.db") as store:
        store.execute("create trigger stop before update on model_versions begin select raise(abort, 'stop'); end")
    with pytest.raises(TrackingError, match="nothing was changed"):
        relocate_store(moved)
    assert paths(moved) == before


def test_a_store_in_use_a_damaged_one_and_none_are_refused(
    moved: Path, tmp_path: Path, with_store: Callable[[Path], Path]
) -> None:
    with pytest.raises(TrackingError, match="no tracking store here"):
        relocate_store(tmp_path)
    new = with_store(tmp_path / "used")
    with Tracker.open(root=new, experiment="x"), pytest.raises(TrackingError, match="a job of this checkout"):
        relocate_store(new)
    (moved / "mlruns" / "mlflow.db").write_bytes(b"x" * 5000)
    with pytest.raises(TrackingError, match="is damaged"):
        relocate_store(moved)


def test_a_store_that_was_never_moved_is_right_where_it_is(whole: tuple[Path, str]) -> None:
    assert check_store(whole[0]).problems == ()
    assert relocate_store(whole[0]).backup is None
    assert open_client(check_store(whole[0]).address).get_run(whole[1]).info.status == "FINISHED"
