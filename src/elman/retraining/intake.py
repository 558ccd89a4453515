"""Takes the input in: complete, copied, and named by its hash, so that what is trained on cannot change meanwhile."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elman.artifacts import read_json, scratch_folder, sha256_file, write_json
from elman.config import DatasetConfig
from elman.data.reading.dataset import open_dataset
from elman.errors import ArtifactError, DataError

MANIFEST_SUFFIX = ".manifest.json"
PATIENCE = 12  # times settle_seconds, until input that keeps changing is given up

_RECORD = "snapshot.json"
_Look = dict[str, tuple[int, int]]  # bytes and mtime in ns, by the file's name below the input


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A copy of the input that nobody writes to.

    Attributes:
        hash: 16 digits of the SHA-256 over names and contents.
        path: The copied file or folder, called as the input is.
        num_bytes: Of all its files.
        note: Why it is not the input of now; else empty.
    """

    hash: str
    path: Path
    num_bytes: int
    note: str = ""


def take(
    dataset: DatasetConfig, inputs: Path, *, settle_seconds: float, fallback: Callable[[], Snapshot] | None
) -> Snapshot:
    """Waits until the input is whole, and copies it.

    Whole is what the manifest beside it lists with bytes and SHA-256, or without a manifest what keeps sizes and times
    for `settle_seconds`. Input that keeps changing is waited for, `PATIENCE` times as long; then the snapshot that was
    accepted last takes its place, with a note.

    Args:
        dataset: Its path is the file or folder that other programs write.
        inputs: Folder for snapshots.
        settle_seconds: How long it has to stay as it is.
        fallback: Gives the snapshot that was accepted last; None where there is none.

    Raises:
        DataError: There is no input, or it stays incomplete and there is no snapshot to fall back to.
    """
    source = Path(dataset.path)
    if not source.exists():
        open_dataset(dataset)  # says what is missing, and what is near
        raise DataError(f"{source}: no such file or folder. Set dataset.path in params.yaml")
    started = time.monotonic()
    while True:
        found = _try(source, inputs, settle_seconds)
        if isinstance(found, Snapshot):
            return found
        if time.monotonic() - started >= PATIENCE * settle_seconds:
            break
    if fallback is not None:
        old = fallback()
        return replace(old, note=f"{source}: {found}; the input accepted last ({old.hash}) was used instead")
    raise DataError(
        f"{source}: {found}, and was waited for {time.monotonic() - started:.0f} s; no input was accepted before, so "
        "that none can take its place. Let its writer finish, or raise retraining.settle_seconds"
    )


def open_snapshot(inputs: Path, digest: str) -> Snapshot:
    """A snapshot that was taken before, checked against its hashes.

    Raises:
        ArtifactError: It is missing, or a file is not as it was copied.
    """
    folder = inputs / digest
    record = read_json(folder / _RECORD)
    files = {name: sha256_file(path) for name, path in _files(folder / record["name"]).items()}
    if files != record["files"] or _digest(record["name"], files) != digest:
        raise ArtifactError(f"{folder}: not as it was copied; delete it, and the next run takes the input anew")
    return Snapshot(hash=digest, path=folder / record["name"], num_bytes=record["bytes"])


def _try(source: Path, inputs: Path, settle_seconds: float) -> Snapshot | str:
    """A snapshot, or why the input is not whole."""
    before = _look(source)
    time.sleep(settle_seconds)
    if before is None or _look(source) != before:
        return "it is still being written"
    listed = _manifest(source)
    if isinstance(listed, str):
        return listed
    if listed is not None and {name: size for name, (size, _) in before.items()} != {
        name: entry["bytes"] for name, entry in listed.items()
    }:
        return f"it has other files or sizes than {_manifest_path(source).name} lists"
    with scratch_folder(inputs / "copy") as folder:
        return _copy(source, inputs, folder, before, listed)


def _copy(source: Path, inputs: Path, folder: Path, before: _Look, listed: Mapping[str, Any] | None) -> Snapshot | str:
    target = folder / "snapshot" / source.name
    for name in before:
        copy = target / name if source.is_dir() else target
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source / name if source.is_dir() else source, copy)
        except FileNotFoundError:
            return "it changed while it was copied"
    if _look(source) != before:
        return "it changed while it was copied"
    files = {name: sha256_file(path) for name, path in _files(target).items()}
    if listed is not None and files != {name: entry["sha256"] for name, entry in listed.items()}:
        return f"its contents are not those that {_manifest_path(source).name} lists"
    digest = _digest(source.name, files)
    num_bytes = sum(size for size, _ in before.values())
    write_json(
        folder / "snapshot" / _RECORD,
        {"version": 1, "name": source.name, "source": str(source), "bytes": num_bytes, "files": files},
    )
    try:
        return open_snapshot(inputs, digest)
    except ArtifactError:  # not there, or damaged
        shutil.rmtree(inputs / digest, ignore_errors=True)
        (folder / "snapshot").rename(inputs / digest)
    return open_snapshot(inputs, digest)


def _look(source: Path) -> _Look | None:
    """Sizes and times of all files; None where one goes away meanwhile."""
    try:
        found = {name: path.stat() for name, path in _files(source).items()}
    except FileNotFoundError:
        return None
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found.items()}


def _files(path: Path) -> dict[str, Path]:
    """Files by their names below `path`, sorted; hidden ones are no input (editors and copying programs use them)."""
    if not path.is_dir():
        return {path.name: path}
    names = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}
    return {name: names[name] for name in sorted(names) if not any(part.startswith(".") for part in name.split("/"))}


def _manifest_path(source: Path) -> Path:
    return source.with_name(source.name + MANIFEST_SUFFIX)


def _manifest(source: Path) -> dict[str, Any] | str | None:
    """What the manifest lists by name, None where there is none, or why it cannot be used (yet)."""
    path = _manifest_path(source)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        files = {
            str(name): {"bytes": entry["bytes"], "sha256": entry["sha256"]} for name, entry in value["files"].items()
        }
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return f'{path.name} is not of the form {{"files": {{"<name>": {{"bytes": 1, "sha256": "..."}}}}}}'
    return files


def _digest(name: str, files: Mapping[str, str]) -> str:
    text = json.dumps([name, sorted(files.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
