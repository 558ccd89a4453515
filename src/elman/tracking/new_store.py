"""A new SQLite store appears whole or not at all.

MLflow makes its tables step by step in the file itself, for seconds. A process that was killed in between left a file
that no later one could open or mend.
"""

import fcntl
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

_MAKING = ".new-store"  # beside the store


def make_store(file: Path, make: Callable[[Path], object]) -> None:
    """Makes the store where there is none.

    Args:
        file: Where it belongs.
        make: Makes a store with its tables in the file that it is given; it may keep that one open.
    """
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with (file.parent / f"{_MAKING}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = file.parent / _MAKING
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed here
        if file.exists():  # another process has made it while this one waited
            return
        folder.mkdir()
        made, copy = folder / "made.db", folder / file.name
        make(made)
        # A copy, since MLflow keeps connections to the one that it has made.
        with closing(sqlite3.connect(made)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        copy.rename(file)
        shutil.rmtree(folder, ignore_errors=True)
