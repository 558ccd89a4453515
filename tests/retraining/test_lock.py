import subprocess
import sys
import time

import pytest

from elman.errors import BusyError
from elman.retraining.lock import alone, holder

HOLD = """
import sys, time
from pathlib import Path
from elman.retraining.lock import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_holds_the_lock_and_the_next_waits_or_says_who_does(tmp_path):
    path = tmp_path / "retraining" / "lock"
    with alone(path):
        started = time.monotonic()
        with (
            pytest.raises(BusyError, match=r"held by process \d+ on .* after 0 s of waiting"),
            alone(path, wait_seconds=0.05),
        ):
            pass
        assert time.monotonic() - started >= 0.05
        assert "process" in holder(path)
    with alone(path):
        pass
    assert holder(path) is None
    assert holder(tmp_path / "never") is None


def test_a_holder_that_was_killed_holds_nothing(tmp_path):
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=f"process {process.pid} "), alone(path):
            pass
        process.kill()
    with alone(path):
        assert "process" in path.read_text() or path.read_text().startswith('{"pid"')
