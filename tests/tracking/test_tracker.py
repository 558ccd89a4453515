import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from elman.errors import TrackingError
from elman.tracking.tracker import Tracker


def _run(tracker: Tracker, run_id: str):
    return tracker.client.get_run(run_id)


def test_seeds_are_told_from_parents_by_tag_and_only_seeds_carry_the_cell(tracker: Tracker) -> None:
    with tracker.parent_run(task="classifier", cell="lstm", seeds=[1, 2], params={"units": 8}) as parent:
        for seed in (1, 2):
            with parent.child_run(seed=seed, params={"units": 8}, tags={"hash.data": "ab"}):
                pass
    above = _run(tracker, parent.run_id)
    assert above.info.run_name == "lstm"
    assert above.info.status == "FINISHED"
    assert above.data.tags["elman.level"] == "parent"
    assert above.data.params == {"cell_summary": "lstm", "units": "8"}
    assert (above.data.tags["seeds"], above.data.tags["num_seeds"]) == ("1, 2", "2")
    assert "cell" not in above.data.tags
    assert "mean" in above.data.tags["mlflow.note.content"]

    ids = parent.ids()
    assert ids["parent_run_id"] == parent.run_id
    assert ids["experiment_id"] == tracker.experiment_id
    below = _run(tracker, ids["runs"]["2"])
    assert below.info.run_name == "lstm seed 2"
    assert below.data.params == {"cell": "lstm", "seed": "2", "units": "8"}
    tags = below.data.tags
    found = [tags[key] for key in ("cell", "task", "seed", "elman.level", "mlflow.parentRunId", "hash.data")]
    assert found == ["lstm", "classifier", "2", "seed", parent.run_id, "ab"]
    assert tags["mlflow.runColor"] == above.data.tags["mlflow.runColor"]


def test_a_seed_more_goes_below_the_run_of_its_cell_and_a_seed_less_leaves_the_views(tracker: Tracker) -> None:
    with tracker.parent_run(task="classifier", cell="lstm", seeds=[1, 2], params={"units": 8}) as parent:
        children = {}
        for seed in (1, 2):
            with parent.child_run(seed=seed, params={"units": 8}) as child:
                children[seed] = child.run_id
    settings = {"task": "classifier", "cell": "lstm", "seeds": [2, 3], "params": {"units": 8}}
    with tracker.parent_run(**settings, resume=parent.run_id) as again:
        again.release({1: children[1]})
        again.adopt(seed=2, run_id=children[2])
        with again.child_run(seed=3, params={"units": 8}) as child:
            children[3] = child.run_id
    assert again.run_id == parent.run_id
    assert again.ids()["runs"] == {"2": children[2], "3": children[3]}
    above = _run(tracker, parent.run_id)
    assert (above.info.status, above.data.tags["seeds"], above.data.tags["num_seeds"]) == ("FINISHED", "2, 3", "2")
    assert _run(tracker, children[1]).data.tags["elman.level"] == "removed"


def test_a_run_to_go_on_with_that_another_store_holds_is_made_anew(tracker: Tracker) -> None:
    with tracker.parent_run(task="classifier", cell="gru", seeds=[1], params={}, resume="0" * 32) as parent:
        parent.adopt(seed=1, run_id="1" * 32)
        parent.release({7: "2" * 32})
    assert parent.run_id != "0" * 32
    assert parent.ids()["runs"] == {}


def test_an_exception_fails_the_seed_and_its_parent_and_is_kept(tracker: Tracker) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        tracker.parent_run(task="classifier", cell="gru", params={}) as parent,
        parent.child_run(seed=1, params={}) as child,
    ):
        raise ZeroDivisionError("the loss was divided by nothing")
    for run_id in (parent.run_id, child.run_id):
        assert _run(tracker, run_id).info.status == "FAILED"
        assert _run(tracker, run_id).data.tags["elman.error"] == "ZeroDivisionError: the loss was divided by nothing"


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143), SystemExit(0)])
def test_a_stopped_run_is_killed_and_never_finished(tracker: Tracker, stop: BaseException) -> None:
    with pytest.raises(type(stop)), tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
        raise stop
    assert _run(tracker, parent.run_id).info.status == "KILLED"


def test_an_exit_with_an_error_code_is_a_failure(tracker: Tracker) -> None:
    with pytest.raises(SystemExit), tracker.parent_run(task="classifier", cell="gru", params={}) as parent:
        raise SystemExit(40)
    assert _run(tracker, parent.run_id).info.status == "FAILED"


_TRAINING = """
import time
from pathlib import Path
from elman.tracking.tracker import Tracker
tracker = Tracker.open(root=Path('.'), experiment='signals')
with tracker.parent_run(task='classifier', cell='lstm', params={}) as parent:
    with parent.child_run(seed=1, params={}) as run:
        run.log_epoch(1, {'train_loss': 1.0})
        print(parent.run_id, run.run_id, flush=True)
        time.sleep(100)
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, "KILLED"), (signal.SIGKILL, "FAILED")])
def test_a_killed_run_is_closed_at_the_latest_by_the_next_job(root: Path, number: signal.Signals, status: str) -> None:
    with subprocess.Popen([sys.executable, "-c", _TRAINING], cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ids = process.stdout.readline().split()
        with Tracker.open(root=root, experiment="another") as tracker:
            assert {_run(tracker, run_id).info.status for run_id in ids} == {"RUNNING"}
        process.send_signal(number)
        process.wait(timeout=60)
    assert process.returncode == (143 if number is signal.SIGTERM else -9)
    with Tracker.open(root=root, experiment="another") as tracker:
        assert [_run(tracker, run_id).info.status for run_id in ids] == [status, status]
        last = tracker.client.get_metric_history(ids[1], "train/loss")[-1].timestamp
        if number is signal.SIGKILL:
            assert _run(tracker, ids[1]).info.end_time == last
    assert list((root / "mlruns" / "alive").iterdir()) == []


def test_a_run_of_this_process_is_never_taken_for_lost(tracker: Tracker, root: Path) -> None:
    with tracker.parent_run(task="classifier", cell="lstm", params={}) as parent:
        with Tracker.open(root=root, experiment="second") as second:
            assert second.fail_lost_runs() == []
        assert _run(tracker, parent.run_id).info.status == "RUNNING"


def test_a_run_that_ends_while_another_job_looks_for_lost_ones_keeps_its_end(
    tracker: Tracker, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Tracker.open(root=root, experiment="second") as second:
        search = second.client.search_runs

        def slow(*arguments: Any, **options: Any) -> Any:
            found = search(*arguments, **options)
            ended.__exit__(None, None, None)
            tracker.close()
            return found

        ended = tracker.parent_run(task="classifier", cell="lstm", params={})
        parent = ended.__enter__()
        monkeypatch.setattr(second.client, "search_runs", slow)
        assert second.fail_lost_runs() == []
    assert _run(tracker, parent.run_id).info.status == "FINISHED"


def test_a_resumed_run_gains_metrics_and_keeps_its_duration(tracker: Tracker) -> None:
    with tracker.parent_run(task="classifier", cell="lstm", params={"units": 8}) as parent:
        parent.log_metrics({"train_loss": 1.0})
    ended = _run(tracker, parent.run_id).info.end_time
    with tracker.resume(parent.run_id) as run:
        assert _run(tracker, parent.run_id).info.status == "RUNNING"
        run.log_params({"units": 8})
        run.log_measures("test", {"accuracy": {"mean": 0.96, "low": None, "high": None}})
    again = _run(tracker, parent.run_id)
    assert (again.info.status, again.info.end_time) == ("FINISHED", ended)
    assert again.data.metrics == {"train/loss": 1.0, "test/accuracy": 0.96}


def test_a_resumed_run_that_fails_reads_failed_and_can_be_resumed_again(tracker: Tracker) -> None:
    with tracker.parent_run(task="classifier", cell="lstm", params={}) as parent:
        pass
    with pytest.raises(OSError, match="disk"), tracker.resume(parent.run_id):
        raise OSError("disk full")
    assert _run(tracker, parent.run_id).info.status == "FAILED"
    with tracker.resume(parent.run_id):
        pass
    assert _run(tracker, parent.run_id).info.status == "FINISHED"


def test_a_run_that_the_store_does_not_hold_is_refused_by_name(tracker: Tracker) -> None:
    assert not tracker.has_run("0" * 32)
    with pytest.raises(TrackingError, match="no run 0000"), tracker.resume("0" * 32):
        pass
    with tracker.parent_run(task="classifier", cell="lstm", params={}) as parent:
        assert tracker.has_run(parent.run_id)
    tracker.client.delete_run(parent.run_id)
    assert not tracker.has_run(parent.run_id)
