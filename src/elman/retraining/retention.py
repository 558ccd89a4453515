"""What is deleted after a run, so that disk and store stay bounded however many nights pass."""

import shutil
from pathlib import Path

from elman.retraining.frozen import open_frozen
from elman.retraining.night import Night
from elman.tracking.registry import CHAMPION, PREVIOUS, Registry

WORKSPACES = 2  # clones with all their data, the newest; and the one of a training that was interrupted


def clean(night: Night, registry: Registry) -> None:
    """Deletes what is older than the last `keep_nights` of its kind: reports, inputs, and versions without an alias.

    Never deleted are the frozen test set, the versions with an alias, and the inputs and clean texts of the champion,
    of the one before it, of the data accepted or trained on last and of a pending training.

    Versions that something else than this job has registered are left alone.

    Args:
        night: The run, with the state as it leaves it.
        registry: The versions.
    """
    places, state, keep = night.places, night.state, night.config.keep_nights
    named = [version for alias in (CHAMPION, PREVIOUS) if (version := registry.version(alias)) is not None]
    numbers = {version.number for version in named}
    ours = [version for version in registry.versions() if "elman.snapshot" in version.tags]
    for version in [one for one in ours if one.number not in numbers][keep:]:
        registry.delete(version.number)
        if all(other.run_id != version.run_id for other in registry.versions()):
            night.tools.forget(night.root, version.run_id)
    needed = {version.tags.get("elman.snapshot") for version in named} | {state.accepted}
    needed |= {one.snapshot for one in (state.trained, state.pending) if one is not None}
    if (places.frozen / "frozen.json").exists():
        needed.add(open_frozen(places.frozen).snapshot)
    for report in sorted(places.reports.glob("*.json"), reverse=True)[keep:]:  # their names are times
        _remove(report.with_suffix(".md"), report)
    _remove(*(path for path in _newest(places.inputs)[keep:] if path.name not in needed))
    _remove(*(path for path in _newest(places.prepared) if path.name not in needed))
    pending = f"{state.pending.snapshot}-{state.pending.commit[:12]}" if state.pending else None
    folders = [path for path in _newest(places.work) if path.is_dir() and path.name != pending]
    for folder in folders[WORKSPACES:]:
        _remove(folder, folder.with_suffix(".log"), folder.with_suffix(".guard"))
    _remove(*places.inputs.glob(".copy.*"), *places.work.glob(".*.part"))  # of runs that were killed


def _newest(folder: Path) -> list[Path]:
    return sorted(folder.glob("[!.]*"), key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def _remove(*paths: Path) -> None:
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
