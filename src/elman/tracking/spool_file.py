"""The entries of one run that wait on disk for the tracking store: `mlruns/spool/<run>.<number>.jsonl`.

A file belongs to one run and one process, which holds a lock on it for as long as it lives; a file whose lock can be
taken was left behind, and whoever takes it writes it out. The first line names the store, each further one is an entry
or says how many of them are written by now.
"""

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from elman.tracking.entries import Entry

REFUSED = "refused"  # a folder beside the files: what the store answered and did not want


class SpoolFile:
    """The waiting entries of one run; locked while the object lives.

    Args:
        path: The file.
        descriptor: Of the open file, locked.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        lines = _whole_lines(path.read_bytes())
        header: dict[str, Any] = lines[0] if lines and "version" in lines[0] else {}
        self.store = str(header.get("store"))
        self.run_id = str(header.get("run"))
        self._written = max((line["written"] for line in lines if "written" in line), default=0)
        self._waiting: list[Entry] = [line for line in lines if "kind" in line][self._written :]

    @classmethod
    def begin(cls, folder: Path, *, run_id: str, store: str) -> Self:
        """A new file for a run of this process."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{run_id}.{uuid.uuid4().hex[:8]}.jsonl"
        # Locked under a hidden name first: the file is never seen without its lock.
        hidden = path.with_name(f".{path.name}")
        descriptor = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _append(descriptor, {"version": 1, "store": store, "run": run_id})
            hidden.rename(path)
        except OSError:
            hidden.unlink(missing_ok=True)
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    @classmethod
    def take(cls, path: Path) -> Self | None:
        """A file that was left behind; None where its process works or another one writes it out."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:  # else somebody wrote it out just now
                return cls(path, descriptor)
        except OSError:
            pass
        os.close(descriptor)
        return None

    def __len__(self) -> int:
        return len(self._waiting)

    def first(self) -> Entry:
        """The entry that is to be written next."""
        return with_copy_in(self.path.parent, self._waiting[0])

    def append(self, entry: Entry) -> None:
        """Keeps an entry, on disk when this returns.

        Raises:
            OSError: The disk is full or may not be written; the file is as before.
        """
        _append(self._descriptor, entry)
        self._waiting.append(entry)

    def written(self) -> None:
        """The first entry stands in the store now."""
        if copy := self.first().get("copy"):
            shutil.rmtree(Path(copy).parent, ignore_errors=True)
        self._drop_first()

    def refuse(self, reason: str) -> Path:
        """Sets the first entry aside, since the store does not want it; a copied file stays where it is."""
        aside = set_aside(self.path.parent, self.run_id, self.first(), reason)
        self._drop_first()
        return aside

    def close(self) -> None:
        """Gives the file back; it is removed where nothing waits in it."""
        if not self._waiting and self.run_id != "None":
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def _drop_first(self) -> None:
        self._waiting.pop(0)
        self._written += 1
        with suppress(OSError):  # without the mark it is written once more, which changes nothing
            _append(self._descriptor, {"written": self._written})


def left_behind(folder: Path) -> Iterator[SpoolFile]:
    """Takes the files whose processes are gone, the oldest first; whoever iterates closes them."""
    taken = [file for path in folder.glob("[!.]*.jsonl") if (file := SpoolFile.take(path)) is not None]
    yield from sorted(taken, key=lambda file: file.first()["time"] if len(file) else 0)


def with_copy_in(folder: Path, entry: Entry) -> Entry:
    """The entry with the whole path of its copy, which is kept relative to the spool's folder."""
    return {**entry, "copy": str(folder / entry["copy"])} if entry.get("copy") else entry


def set_aside(folder: Path, run_id: str, entry: Entry, reason: str) -> Path:
    """Writes an entry that the store does not want, with its reason, to a file below `refused/`, and returns that."""
    path = folder / REFUSED / f"{run_id}.jsonl"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"reason": reason, **entry}) + "\n")
    return path


def _append(descriptor: int, value: dict[str, Any]) -> None:
    """Writes a line, whole or not at all."""
    size = os.fstat(descriptor).st_size
    left = json.dumps(value, allow_nan=False).encode() + b"\n"
    try:
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def _whole_lines(data: bytes) -> list[dict[str, Any]]:
    """The lines up to one that was cut off by a crash."""
    found = []
    for line in data.splitlines(keepends=True):
        try:
            value = json.loads(line)
        except ValueError:
            break
        if not line.endswith(b"\n") or not isinstance(value, dict):
            break
        found.append(value)
    return found
