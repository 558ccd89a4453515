"""Tells runs whose process works from runs whose process is gone.

A process that records runs holds a lock on a file of its own below `mlruns/alive/`, and its runs carry the file's name
in a tag. The system drops the lock however the process ends, kill -9 and power loss included, so a lock that can be
taken means a process that is gone. A process number alone would not do: numbers are used again, and a container has its
own count.
"""

import fcntl
import json
import os
import signal
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Any

from elman.artifacts import naming

PROCESS_TAG = "elman.process"  # one tag, since each is a column of the page


class Terminated(SystemExit):
    """The process was asked to end by a signal; unwinds the stack so that runs are closed, then exits."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(128 + signal_number)


class Alive:
    """This process' own lock: held until `close`, or until the process ends in whatever way."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder.resolve() / uuid.uuid4().hex
        # Locked under a hidden name first: the file is never seen without its lock.
        hidden = self.path.with_name(f".{self.path.name}")
        self._file: IO[str] = hidden.open("w", encoding="utf-8")
        with naming(self.path):
            self._file.write(f"{os.getpid()}\n")
            self._file.flush()
        fcntl.flock(self._file, fcntl.LOCK_EX)
        hidden.rename(self.path)

    def tags(self) -> dict[str, str]:
        """What a run carries, so that a later job can tell whether its process still works."""
        process = {"pid": os.getpid(), "host": socket.gethostname(), "lock": str(self.path)}
        return {PROCESS_TAG: json.dumps(process)}

    def close(self) -> None:
        """Gives the lock back; a second call does nothing."""
        if not self._file.closed:
            self.path.unlink(missing_ok=True)
            self._file.close()


def is_gone(tags: dict[str, str], *, shared_disk: bool) -> bool:
    """Whether the process of a run with these tags is surely gone.

    Args:
        tags: The run's tags.
        shared_disk: True when whoever writes to the store sees this disk (a store in a file), whatever the host is
            called: a container gets another name at each start. False for a server, where only this host is judged.
    """
    try:
        process = json.loads(tags[PROCESS_TAG])
        path, host = Path(process["lock"]), process["host"]
    except (KeyError, TypeError, ValueError):  # a run of other software
        return False
    return (shared_disk or host == socket.gethostname()) and _is_free(path)


def anyone_alive(folder: Path) -> bool:
    """Whether a process that records runs here works now."""
    return any(not _is_free(path) for path in folder.glob("[!.]*"))


def remove_stale(folder: Path) -> None:
    """Deletes the lock files of processes that are gone."""
    for path in folder.glob("[!.]*"):
        if _is_free(path):
            path.unlink(missing_ok=True)


def _is_free(path: Path) -> bool:
    """Whether nobody holds the lock: it can be taken, or its file is no more."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


@contextmanager
def raising_on_signals() -> Iterator[None]:
    """Turns SIGTERM and SIGHUP into an exception inside the block, so that `with` and `finally` close what is open.

    Leaves a signal alone that somebody else handles or ignores (`nohup`), and does nothing outside the main thread,
    where Python allows no handlers.
    """

    def end(number: int, _frame: FrameType | None) -> None:
        raise Terminated(number)

    replaced: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                replaced[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
