"""Seeds that were trained before: kept where nothing that they depend on has changed.

DVC leaves a train stage's folder as it is (`persist` in dvc.yaml) and runs the stage whenever its seeds change. Each
seed's folder says what it was made from, so that a seed more costs the training of one seed.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elman.artifacts import read_json, sha256_file, write_json
from elman.errors import ArtifactError

NAME = "trained.json"
_FILES = ("model.keras", "model.json", "history.json")


class KeptSeed(NamedTuple):
    """A seed whose training is done.

    Attributes:
        summary: Its entry in the cell's summary.json.
        run_id: Its run in the tracking store.
        parent_run_id: The run of the cell above it.
    """

    summary: dict[str, Any]
    run_id: str
    parent_run_id: str


def write_trained(folder: Path, *, key: str, kept: KeptSeed) -> None:
    """Says that the folder is whole, and what it was made from; the last file that a training writes.

    Args:
        folder: models/<task>/<cell>/seed-<n>, with the model and its history.
        key: Names all that the training depends on.
        kept: What is known of the training.
    """
    files = {name: sha256_file(folder / name) for name in _FILES}
    write_json(folder / NAME, {"version": 1, "key": key, "files": files, **kept._asdict()})


def read_trained(folder: Path, *, key: str) -> KeptSeed | None:
    """What is known of a training with the same key, or None where there is none or a file is not as it was left."""
    try:
        value = read_json(folder / NAME)
        if value["version"] != 1 or value["key"] != key:
            return None
        if any(sha256_file(folder / name) != digest for name, digest in value["files"].items()):
            return None
        return KeptSeed(**{name: value[name] for name in KeptSeed._fields})
    except (ArtifactError, OSError, KeyError, TypeError):  # never trained, stopped before its end, or damaged
        return None


def remove_others(out: Path, seeds: Sequence[int]) -> dict[int, str]:
    """Deletes the folders of seeds that are not asked for any more; returns their runs by seed.

    Args:
        out: models/<task>/<cell>.
        seeds: The seeds that are asked for.
    """
    removed = {}
    for folder in sorted(out.glob("seed-*")):
        number = folder.name.removeprefix("seed-")
        if not number.isdigit() or int(number) in seeds:
            continue
        try:
            value: Mapping[str, Any] = read_json(folder / NAME)
            removed[int(number)] = str(value["run_id"])
        except (ArtifactError, KeyError, TypeError):
            pass
        shutil.rmtree(folder)
    return removed
