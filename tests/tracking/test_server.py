"""A real MLflow server that is killed in the middle of a training. One start: it takes seconds."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from elman.errors import TrackingError
from elman.tracking import store
from elman.tracking.replay import replay_left
from elman.tracking.spool import Spool
from elman.tracking.tracker import Tracker

LOSSES = [3.25, 2.125, 1.5, 1.0625, 0.875]


@contextmanager
def server(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """A server on a free port of this machine, with its processes in a group of their own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}", "--no-serve-artifacts"]
    command += ["--default-artifact-root", str(folder / "artifacts")]
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **quiet}, stderr=subprocess.DEVNULL, start_new_session=True
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5)
                break
            except (urllib.error.URLError, OSError):
                assert process.poll() is None, "the server ended by itself"
                time.sleep(0.2)
        yield address, process
    finally:
        kill(process)


def kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_server_that_is_killed_in_mid_run_costs_no_value(
    tmp_path: Path,
    with_store: Callable[[Path], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_store(tmp_path)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with server(tmp_path) as (address, process):
        monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
        with (
            Tracker.open(root=tmp_path, experiment="r8") as tracker,
            tracker.parent_run(task="classifier", cell="gru", seeds=[1, 2], params={"units": 8}) as parent,
        ):
            with parent.child_run(seed=1, params={"units": 8}) as first:
                for epoch, loss in enumerate(LOSSES, start=1):
                    if epoch == 3:
                        kill(process)
                    first.log_epoch(epoch, {"valid_loss": loss})
            with parent.child_run(seed=2, params={"units": 9}) as second:
                second.log_epoch(1, {"valid_loss": 7.5})
        assert second.run_id.startswith("local-")
    printed = capsys.readouterr().err
    assert printed.count("warning") == 1
    assert address in printed
    with pytest.raises(TrackingError) as caught:  # what begins now stops before it trains
        Tracker.open(root=tmp_path, experiment="r8")
    assert caught.value.exit_code == 50

    uri = f"sqlite:///{tmp_path / 'mlruns' / 'mlflow.db'}"  # the same store, as its server would open it again
    client = store.open_client(uri)
    done = replay_left(client, uri, Spool(tmp_path / "mlruns" / "spool", store=address))
    assert done.refused == ()
    runs = {run.info.run_name: run for run in client.search_runs([tracker.experiment_id])}
    assert {name: run.info.status for name, run in runs.items()} == dict.fromkeys(
        ("gru", "gru seed 1", "gru seed 2"), "FINISHED"
    )
    points = client.get_metric_history(first.run_id, "valid/loss")
    assert [(point.step, point.value) for point in points] == list(enumerate(LOSSES, start=1))
    assert runs["gru seed 2"].data.metrics == {"valid/loss": 7.5}
    assert runs["gru seed 2"].data.params["units"] == "9"
    assert runs["gru seed 2"].data.tags["mlflow.parentRunId"] == parent.run_id
    assert list((tmp_path / "mlruns" / "spool").glob("*.jsonl")) == []
