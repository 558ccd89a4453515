"""One job at a time: a kernel lock, which the system drops however its holder ends, kill -9 and power loss included."""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from elman.errors import BusyError

_POLL_SECONDS = 0.25
_LEAST_SECONDS = 0.5  # `elman status` looks whether the lock is held, and holds it for a moment


@contextmanager
def alone(path: Path, *, wait_seconds: float = 0.0) -> Iterator[None]:
    """Holds the lock inside the block.

    The file stays: to delete it would let a third process lock a new one while a second still waits for the old.

    Args:
        path: The lock file; made where it is missing.
        wait_seconds: How long to wait for another holder.

    Raises:
        BusyError: Another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        _take(file, path, wait_seconds)
        file.seek(0)
        file.truncate()
        started = datetime.now(UTC).isoformat(timespec="seconds")
        file.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "started": started}) + "\n")
        file.flush()
        yield


def holder(path: Path) -> str | None:
    """Who holds the lock, in words; None where nobody does. Takes nothing and writes nothing."""
    try:
        with path.open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return _described(path)
    return None


def _take(file: IO[str], path: Path, wait_seconds: float) -> None:
    deadline = time.monotonic() + max(wait_seconds, _LEAST_SECONDS)
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            left = deadline - time.monotonic()
            if left <= 0.0:
                waited = f" after {wait_seconds:.0f} s of waiting" if wait_seconds else ""
                raise BusyError(
                    f"{path}: held by {_described(path)}{waited}; wait for its end, or set retraining.wait_minutes"
                ) from None
            time.sleep(min(_POLL_SECONDS, left))
        else:
            return


def _described(path: Path) -> str:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return f"process {found['pid']} on {found['host']}, which began at {found['started']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
