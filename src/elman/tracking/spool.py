"""Keeps what could not be written to the tracking store, one file a run; decision 16 tells why and how."""

import shutil
import uuid
from pathlib import Path

from elman.tracking.entries import Entry
from elman.tracking.spool_file import SpoolFile

FOLDER = "spool"  # below mlruns/
COPIES = "files"  # below the spool: copies of artifacts


class Spool:
    """What this process keeps for the store.

    On a full disk, where not even the spool can be written, entries stay in memory until there is room.

    Args:
        folder: `mlruns/spool`.
        store: Which store the entries are for.
    """

    def __init__(self, folder: Path, *, store: str) -> None:
        self.folder = folder
        self.store = store
        self.files: dict[str, SpoolFile] = {}
        self.in_memory: list[tuple[str, Entry]] = []

    def __bool__(self) -> bool:
        """Whether anything waits for the store."""
        return bool(self.files or self.in_memory)

    def keep(self, run_id: str, entry: Entry) -> None:
        """Keeps an entry; an artifact is copied, since its file may be gone or changed when the store is back."""
        self.in_memory.append((run_id, self._with_copy(entry)))
        self.flush()

    def flush(self) -> None:
        """Brings what is in memory to the disk, as far as there is room."""
        while self.in_memory:
            run_id, entry = self.in_memory[0]
            try:
                if run_id not in self.files:
                    self.files[run_id] = SpoolFile.begin(self.folder, run_id=run_id, store=self.store)
                self.files[run_id].append(entry)
            except OSError:
                return
            self.in_memory.pop(0)

    def close(self) -> None:
        """Gives all files back, for a later job to write them out."""
        self.flush()
        for file in self.files.values():
            file.close()
        self.files.clear()

    def _with_copy(self, entry: Entry) -> Entry:
        if entry["kind"] != "artifact":
            return entry
        path = Path(entry["path"]).resolve()
        copy = Path(COPIES) / uuid.uuid4().hex / path.name  # relative: the checkout may be moved
        try:
            (self.folder / copy).parent.mkdir(parents=True)
            if path.is_dir():
                shutil.copytree(path, self.folder / copy)
            else:
                shutil.copyfile(path, self.folder / copy)
        except OSError:  # no room: the file itself may still be there
            shutil.rmtree((self.folder / copy).parent, ignore_errors=True)
            return {**entry, "path": str(path)}
        return {**entry, "path": str(path), "copy": str(copy)}
