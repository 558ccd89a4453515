import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from elman.retraining.process import run_logged
from elman.tracking.liveness import raising_on_signals

# Saves itself when it is asked to end.
SAVING = """
import signal, sys, time
def end(*_):
    print("saved", flush=True)
    sys.exit(143)
signal.signal(signal.SIGTERM, end)
print("begun", flush=True)
time.sleep(60)
"""


def run(folder: Path, *command: str) -> int:
    return run_logged(command, cwd=folder, env={"PATH": os.environ["PATH"]}, log=folder / "log", guard=folder / "guard")


def save(folder: Path) -> int:
    return run(folder, sys.executable, "-S", "-c", SAVING)


def wait_for(path: Path, text: str) -> None:
    for _ in range(500):
        if path.exists() and text in path.read_text():
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} never held {text!r}")


def test_the_exit_code_comes_back_and_the_log_holds_both_streams_of_all_runs(tmp_path):
    assert run(tmp_path, "sh", "-c", "echo one; echo two >&2; exit 7") == 7
    assert run(tmp_path, "echo", "three") == 0
    assert (tmp_path / "log").read_text() == "one\ntwo\nthree\n"


def test_a_signal_to_end_is_passed_on_and_the_command_may_save_itself(tmp_path):
    def end() -> None:
        wait_for(tmp_path / "log", "begun")
        os.kill(os.getpid(), signal.SIGTERM)

    sender = threading.Thread(target=end)
    sender.start()
    with pytest.raises(SystemExit) as caught, raising_on_signals():
        save(tmp_path)
    sender.join()
    assert caught.value.code == 143
    assert (tmp_path / "log").read_text() == "begun\nsaved\n"


def test_a_command_that_a_killed_job_left_is_ended_before_the_next_begins(tmp_path):
    code = "import sys, tests.retraining.test_process as t; from pathlib import Path; t.save(Path(sys.argv[1]))"
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=Path(__file__).parents[2]) as job:
        wait_for(tmp_path / "log", "begun")
        job.kill()
    assert run(tmp_path, "echo", "next") == 0
    assert (tmp_path / "log").read_text() == "begun\nsaved\nnext\n"
