import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from elman.tracking.liveness import Alive, Terminated, is_gone, raising_on_signals, remove_stale


def test_a_held_lock_is_a_living_process_and_a_closed_one_is_gone(tmp_path: Path) -> None:
    alive = Alive(tmp_path)
    tags = alive.tags()
    assert json.loads(tags["elman.process"])["pid"] == os.getpid()
    assert not is_gone(tags, shared_disk=True)
    alive.close()
    assert is_gone(tags, shared_disk=True)
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_was_killed_is_gone_though_its_file_stays(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from elman.tracking.liveness import Alive\n"
        f"alive = Alive(Path({str(tmp_path)!r})); print(alive.path, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lock = Path(process.stdout.readline().strip())
        tags = {"elman.process": json.dumps({"pid": process.pid, "host": "any", "lock": str(lock)})}
        assert not is_gone(tags, shared_disk=True)
        remove_stale(tmp_path)
        assert lock.exists()
        process.kill()
        process.wait()
    assert lock.exists()
    assert is_gone(tags, shared_disk=True)
    remove_stale(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_with_a_server_only_runs_of_this_host_are_judged(tmp_path: Path) -> None:
    def tags(host: str) -> dict[str, str]:
        return {"elman.process": json.dumps({"pid": 1, "host": host, "lock": str(tmp_path / "missing")})}

    assert not is_gone(tags("another"), shared_disk=False)
    assert is_gone(tags("another"), shared_disk=True)
    assert is_gone(tags(socket.gethostname()), shared_disk=False)


@pytest.mark.parametrize("tags", [{"mlflow.runName": "notebook"}, {"elman.process": "7"}, {"elman.process": "{"}])
def test_a_run_of_other_software_is_left_alone(tags: dict[str, str]) -> None:
    assert not is_gone(tags, shared_disk=True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_unwinds_the_stack_and_keeps_its_exit_code(number: signal.Signals, code: int) -> None:
    with pytest.raises(Terminated) as caught, raising_on_signals():
        os.kill(os.getpid(), number)
    assert caught.value.code == code
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_signal_that_somebody_else_handles_stays_theirs() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: seen.append(number))
    try:
        with raising_on_signals():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]
