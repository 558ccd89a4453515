"""A command with its log in a file, which neither outlives a job that is asked to end nor meets one that was left over.

The command gets a process group of its own. A job that is asked to end passes that on and waits, so that a training can
save itself. A job that was killed cannot: its command goes on alone, holding a lock that it inherited, and the next job
ends it before it begins.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

_PATIENCE_SECONDS = 20.0  # for a training to save itself; service managers kill after 30
_POLL_SECONDS = 0.1


def run_logged(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path, guard: Path) -> int:
    """Runs a command to its end; standard output and error go to the end of `log`.

    Args:
        command: Program and arguments.
        cwd: Where it runs.
        env: Its whole environment.
        log: The log.
        guard: A lock file that the command holds as long as it lives.

    Returns:
        Its exit code; negative where a signal ended it.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with guard.open("a+", encoding="utf-8") as lock, log.open("ab") as out:
        _take_over(lock)
        with subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(lock.fileno(),),
        ) as process:
            try:
                lock.truncate(0)
                lock.write(f"{process.pid}\n")
                lock.flush()
                return process.wait()
            except BaseException:
                _end(process.pid)
                raise


def _take_over(lock: IO[str]) -> None:
    """Locks the guard; a command that a killed job left behind is ended first."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        number = lock.readline().strip()
        if number.isdigit():
            _end(int(number))  # the group of whoever holds the lock: its number cannot belong to others
        fcntl.flock(lock, fcntl.LOCK_EX)


def _end(group: int) -> None:
    """Asks a process group to end, waits, and ends it."""
    for number, patience in ((signal.SIGTERM, _PATIENCE_SECONDS), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + patience
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, number)
        while time.monotonic() < deadline:
            if not _lives(group):
                return
            time.sleep(_POLL_SECONDS)


def _lives(group: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-group, os.WNOHANG)  # in a container without an init, orphans are ours to collect
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
