"""What is recorded while the store is away is in it afterwards: all of it, in order, once."""

import json
import random
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from elman.errors import TrackingError
from elman.tracking import writer
from elman.tracking.evaluations import fetch_evaluation
from elman.tracking.spool_file import SpoolFile
from elman.tracking.tracker import Tracker
from tests.helpers.away import away

DRAWN = random.Random(7)
LOSSES = [round(DRAWN.uniform(0.5, 6.0), 6) for _ in range(6)]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_FIRST_WAIT", 1e-6)
    monkeypatch.setattr(writer, "_SHARE", 0.0)


def reopened(root: Path, tracker: Tracker) -> Tracker:
    """Another job of the same checkout: it writes what was left behind."""
    return Tracker.open(root=root, experiment=tracker._experiment)


def history(tracker: Tracker, run_id: str, key: str = "valid/loss") -> list[tuple[int, float]]:
    return [(point.step, point.value) for point in tracker.client.get_metric_history(run_id, key)]


def waiting(root: Path) -> list[Path]:
    folder = root / "mlruns" / "spool"
    return [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "refused"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "seed-1"
    folder.mkdir()
    (folder / "model.keras").write_bytes(bytes(range(50)))
    return folder


def test_a_training_goes_on_without_its_store_and_the_next_job_writes_all_of_it_once(
    root: Path, tracker: Tracker, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as outage:
        with (
            tracker.parent_run(task="classifier", cell="lstm", seeds=[1], params={"units": 8}) as parent,
            parent.child_run(seed=1, params={"units": 8}) as child,
        ):
            for epoch in (1, 2):
                child.log_epoch(epoch, {"valid_loss": LOSSES[epoch]})
            outage.enter_context(away(tracker))
            for epoch in (3, 4):
                child.log_epoch(epoch, {"valid_loss": LOSSES[epoch], "train_loss": float("nan")})
            child.log_artifact(model, "model")
        tracker.close()
    ended = int(time.time() * 1000)
    (model / "model.keras").write_bytes(b"another training's")
    time.sleep(0.05)
    printed = capsys.readouterr().err
    assert printed.count("warning") == 1
    assert "ConnectionError: no route to the store" in printed
    assert tracker.client.get_run(child.run_id).info.status == "RUNNING"
    with reopened(root, tracker) as second:
        assert "the tracking store is back: " in capsys.readouterr().err
        assert history(second, child.run_id) == [(epoch, LOSSES[epoch]) for epoch in (1, 2, 3, 4)]
        run = second.client.get_run(child.run_id)
        assert (run.data.tags["non_finite"], run.data.tags["non_finite_count"]) == ("train/loss", "2")
        kept = Path(second.client.download_artifacts(child.run_id, "model/model.keras"))
        assert kept.read_bytes() == bytes(range(50))
        for info in (run.info, second.client.get_run(parent.run_id).info):
            assert info.status == "FINISHED"
            assert info.end_time <= ended
    assert waiting(root) == []


def test_the_next_write_after_the_store_is_back_brings_what_waits_first(
    root: Path, tracker: Tracker, capsys: pytest.CaptureFixture[str]
) -> None:
    with tracker.parent_run(task="classifier", cell="gru", params={"dropout": 0.1}) as parent:
        for outage in (1, 3):
            with away(tracker):
                parent.log_params({"dropout": outage / 10 + 0.1})
                parent.log_epoch(outage, {"valid_loss": LOSSES[outage]})
            parent.log_epoch(outage + 1, {"valid_loss": LOSSES[outage + 1]})
            assert waiting(root) == []
            assert history(tracker, parent.run_id) == [(step, LOSSES[step]) for step in range(1, outage + 2)]
    data = tracker.client.get_run(parent.run_id).data
    assert data.tags["changed.dropout"] == "0.1 -> 0.2 -> 0.4"
    printed = capsys.readouterr().err
    assert (printed.count("warning: "), printed.count("the tracking store is back: ")) == (2, 2)


def test_a_run_that_is_begun_while_the_store_is_away_is_made_when_it_is_back(
    root: Path, tracker: Tracker, tmp_path: Path
) -> None:
    with ExitStack() as outage:
        with tracker.parent_run(task="classifier", cell="lstm", seeds=[1, 2], params={"units": 8}) as parent:
            outage.enter_context(away(tracker))
            for seed in (1, 2):
                with parent.child_run(seed=seed, params={"units": 8}, tags={"hash.data": "ab"}) as child:
                    child.log_epoch(1, {"valid_loss": LOSSES[seed]})
            ids = parent.ids()["runs"]
        tracker.close()
    assert all(run_id.startswith("local-") for run_id in ids.values())
    ended = int(time.time() * 1000)
    with reopened(root, tracker) as second:
        assert second.has_run(ids["1"])
        assert not second.has_run("local-another")
        (tmp_path / "scores.parquet").write_text("scores")
        with second.resume(ids["2"]) as run:
            run.log_measures("test", {"accuracy": {"mean": 0.9}})
            run.log_artifact(tmp_path / "scores.parquet", "evaluation")
        found = second.client.get_run(run.run_id)
        assert found.data.metrics == {"valid/loss": LOSSES[2], "test/accuracy": 0.9}
        assert (found.info.run_name, found.info.status) == ("lstm seed 2", "FINISHED")
        assert (found.data.params["units"], found.data.tags["hash.data"]) == ("8", "ab")
        assert found.data.tags["mlflow.parentRunId"] == parent.run_id
        assert found.info.start_time <= found.info.end_time <= ended
        second.client.delete_tag(run.run_id, "mlflow.parentRunId")  # or the parent would be asked for its scores
    folder, _ = fetch_evaluation(ids["2"], root=root, into=tmp_path)
    assert (folder / "scores.parquet").read_text() == "scores"


def test_a_training_that_goes_on_while_the_store_is_away_writes_no_epoch_again(root: Path, tracker: Tracker) -> None:
    with tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
        with parent.child_run(seed=1, params={}) as child:
            for epoch in (1, 2):
                child.log_epoch(epoch, {"train_loss": LOSSES[epoch]})
        with away(tracker), parent.child_run(seed=1, params={}, resume=child.run_id) as again:
            assert again.logged_epochs() == 0
            for epoch in (1, 2, 3):
                again.log_epoch(epoch, {"train_loss": LOSSES[epoch]})
    tracker.close()
    assert again.run_id == child.run_id
    assert history(tracker, child.run_id, "train/loss") == [(epoch, LOSSES[epoch]) for epoch in (1, 2, 3)]
    assert again.logged_epochs() == 3


def test_a_replay_that_is_done_twice_doubles_nothing(root: Path, tracker: Tracker, model: Path) -> None:
    with away(tracker):
        with (
            tracker.parent_run(task="classifier", cell="gru", params={"units": 8}) as parent,
            parent.child_run(seed=3, params={"units": 9}) as child,
        ):
            for epoch in (1, 2):
                child.log_epoch(epoch, {"valid_loss": LOSSES[epoch]})
            child.log_params({"units": 10})
            child.log_artifact(model, "model")
        tracker.close()
    spool, copy = root / "mlruns" / "spool", model.parent / "copy"
    shutil.copytree(spool, copy)
    for _ in range(2):
        shutil.copytree(copy, spool, dirs_exist_ok=True)
        with reopened(root, tracker) as second:
            runs = second.client.search_runs([second.experiment_id])
            assert sorted(run.info.run_name for run in runs) == ["gru", "gru seed 3"]
            below = next(run for run in runs if run.info.run_name == "gru seed 3")
            assert history(second, below.info.run_id) == [(1, LOSSES[1]), (2, LOSSES[2])]
            assert below.data.tags["changed.units"] == "9 -> 10"
            above = next(run for run in runs if run.info.run_name == "gru")
            assert below.data.tags["mlflow.parentRunId"] == above.info.run_id
    assert waiting(root) == []


@pytest.mark.parametrize(("stop", "status"), [(SystemExit(143), "KILLED"), (ValueError("diverged"), "FAILED")])
def test_a_run_that_ended_badly_while_the_store_was_away_reads_so_afterwards(
    root: Path, tracker: Tracker, stop: BaseException, status: str
) -> None:
    with (
        ExitStack() as outage,
        pytest.raises(type(stop)),
        tracker,
        tracker.parent_run(task="classifier", cell="gru", params={}) as parent,
    ):
        outage.enter_context(away(tracker))
        raise stop
    with reopened(root, tracker) as second:
        run = second.client.get_run(parent.run_id)
    assert run.info.status == status
    assert run.data.tags.get("elman.error") == ("ValueError: diverged" if status == "FAILED" else None)


def test_what_the_store_does_not_take_is_set_aside_with_its_reason_and_holds_nothing_up(
    root: Path, tracker: Tracker, capsys: pytest.CaptureFixture[str]
) -> None:
    with tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
        parent.log_metrics({"valid/loss": LOSSES[1], "valid/what?!": 1.0})
        with away(tracker):
            parent.log_metrics({"train/why?!": 1.0})
            parent.log_epoch(2, {"valid_loss": LOSSES[2]})
        parent.log_epoch(3, {"valid_loss": LOSSES[3]})
    assert history(tracker, parent.run_id)[-2:] == [(2, LOSSES[2]), (3, LOSSES[3])]
    aside = root / "mlruns" / "spool" / "refused" / f"{parent.run_id}.jsonl"
    lines = [json.loads(line) for line in aside.read_text().splitlines()]
    assert [next(iter(set(line["metrics"]) - {"valid/loss"})) for line in lines] == ["valid/what?!", "train/why?!"]
    assert all("Invalid value" in line["reason"] for line in lines)
    assert capsys.readouterr().err.count(str(aside)) == 1


def test_another_jobs_entries_are_left_to_it_and_another_stores_to_that(root: Path, tracker: Tracker) -> None:
    with ExitStack() as outage:
        with tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
            outage.enter_context(away(tracker))
            parent.log_epoch(1, {"valid_loss": LOSSES[1]})
            [path] = waiting(root)
            assert SpoolFile.take(path) is None
        tracker.close()
    text = path.read_text()
    path.write_text(text.replace('"store": "own"', '"store": "http://elsewhere:5000"'))
    with reopened(root, tracker) as second:
        assert history(second, parent.run_id) == []
    path.write_text(text)
    with reopened(root, tracker) as second:
        assert history(second, parent.run_id) == [(1, LOSSES[1])]


def test_a_line_that_a_crash_cut_off_is_left_out_and_those_before_it_are_written(root: Path, tracker: Tracker) -> None:
    run = tracker.run(tracker.create("gru", {}))
    with away(tracker):
        run.log_epoch(1, {"valid_loss": LOSSES[1]})
        run.log_epoch(2, {"valid_loss": LOSSES[2]})
        [path] = waiting(root)
        tracker.close()
    path.write_bytes(path.read_bytes()[:-9])
    with reopened(root, tracker) as second:
        assert history(second, run.run_id) == [(1, LOSSES[1])]
        assert second.client.get_run(run.run_id).info.status == "FAILED"


def test_a_store_that_is_damaged_in_mid_run_costs_no_value_once_it_is_put_back(
    tmp_path: Path, with_store: Callable[[Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    file = with_store(tmp_path) / "mlruns" / "mlflow.db"
    with Tracker.open(root=tmp_path, experiment="damaged") as tracker:
        with tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
            parent.log_epoch(1, {"valid_loss": LOSSES[1]})
            whole = file.read_bytes()
            file.write_bytes(b"\x7f" * len(whole))
            parent.log_epoch(2, {"valid_loss": LOSSES[2]})
        with pytest.raises(TrackingError, match=r"mlflow\.db is damaged\. Put a copy of it back"):
            Tracker.open(root=tmp_path, experiment="damaged")
    assert "DatabaseError" in capsys.readouterr().err
    file.write_bytes(whole)
    with Tracker.open(root=tmp_path, experiment="damaged") as tracker:
        assert history(tracker, parent.run_id) == [(1, LOSSES[1]), (2, LOSSES[2])]
        assert tracker.client.get_run(parent.run_id).info.status == "FINISHED"


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can grow: what a full disk is to a program."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_full_disk_entries_stay_in_memory_until_there_is_room(
    root: Path, tracker: Tracker, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
        with full_disk():
            for epoch in (1, 2, 3):
                parent.log_epoch(epoch, {"valid_loss": LOSSES[epoch]})
            parent.log_artifact(model, "model")
        parent.log_epoch(4, {"valid_loss": LOSSES[4]})
        assert history(tracker, parent.run_id) == [(step, LOSSES[step]) for step in (1, 2, 3, 4)]
        assert [item.path for item in tracker.client.list_artifacts(parent.run_id, "model")] == ["model/model.keras"]
    assert waiting(root) == []
    assert capsys.readouterr().err.count("warning") == 1
