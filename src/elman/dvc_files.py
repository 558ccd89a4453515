"""DVC's own files after a kill: it writes two of them in place, so that a kill in that moment leaves half of one."""

import fcntl
import json
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

_LOCK = ".dvc/tmp/lock"  # held by DVC while it reads and writes the files below
_WHO_USES_WHAT = ".dvc/tmp/rwlock"
_WHAT_RAN = ("dvc.lock", "data/dvc.lock")


def mend_dvc_files(root: Path) -> list[str]:
    """Puts half-written files of a DVC that was killed out of the way, so that the next `dvc repro` works by itself.

    DVC stops at such a file until a person removes it. The list of which process uses which file goes: those processes
    are dead. The record of what has run is kept as dvc.lock.broken: its stages run again, and of a training the seeds
    are kept that nothing has changed for. Nothing is done while another DVC is at work.

    Args:
        root: The checkout.

    Returns:
        One line for each file that was mended.
    """
    if not (root / _LOCK).parent.is_dir():
        return []
    with (root / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return []
        return _mend(root)


def _mend(root: Path) -> list[str]:
    lines = []
    uses = root / _WHO_USES_WHAT
    if uses.is_file() and not _is_json(uses):
        uses.unlink()
        lines.append(f"{_WHO_USES_WHAT}: half written by a DVC that was killed; removed")
    for name in _WHAT_RAN:
        file = root / name
        if file.is_file() and not _is_whole(file):
            file.replace(broken := file.with_name(f"{file.name}.broken"))
            lines.append(f"{name}: half written by a DVC that was killed; kept as {broken.name}, its stages run again")
    return lines


def _is_json(file: Path) -> bool:
    try:
        json.loads(file.read_text("utf-8"))
    except ValueError:
        return False
    return True


def _is_whole(file: Path) -> bool:
    """Whether DVC would read it: no line is cut off, and nothing that a stage began with is missing."""
    try:
        text = file.read_text("utf-8")
        found = YAML(typ="safe").load(text)
    except (YAMLError, ValueError):
        return False
    stages = found.get("stages") if isinstance(found, dict) else None
    return text.endswith("\n") and isinstance(stages, dict) and all(_is_stage(stage) for stage in stages.values())


def _is_stage(stage: object) -> bool:
    if not isinstance(stage, dict) or not isinstance(stage.get("cmd"), str | list):
        return False
    lists = [stage.get(name, []) for name in ("deps", "outs")]
    params = stage.get("params", {})
    return (
        all(isinstance(entries, list) and all("path" in entry for entry in entries) for entries in lists)
        and isinstance(params, dict)
        and all(isinstance(values, dict) for values in params.values())
    )
