"""From a name to a folder with scores: a cell, a baseline, their mixture, a folder, a run, or an experiment's cell."""

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from elman.errors import ArtifactError, DataError
from elman.reporting.comparing.revisions import fetch_revision, split_revision
from elman.reporting.comparing.system import System, read_system
from elman.tracking.evaluations import fetch_evaluation

TASKS = ("classifier", "language_model")
_RUN_ID = re.compile(r"[0-9a-f]{32}")


def read_named(names: Sequence[str], *, reports: Path, root: Path, task: str | None = None) -> list[list[System]]:
    """The systems by task: of the one task asked for, or of each in which all names are found.

    Raises:
        DataError: Fewer than two names, a name that stands for nothing, or no task that has all of them.
        ArtifactError: A report is missing or was half written.
    """
    if len(names) < 2 or len(set(names)) < len(names):
        raise DataError(f"elman compare takes two or more systems, each once, such as `gru lstm`; {list(names)} came")
    if task is not None and task not in TASKS:
        raise DataError(f"--task is {' or '.join(TASKS)}; {task!r} came")
    found = [_read(name, reports, root, [task] if task else list(TASKS)) for name in names]
    common = [one for one in TASKS if all(one in systems for systems in found)]
    if not common:
        where = "; ".join(f"{name}: {' and '.join(systems)}" for name, systems in zip(names, found, strict=True))
        raise DataError(f"no task has scores of all of them ({where}): only systems of one task can be compared")
    return [[systems[one] for systems in found] for one in common]


def _read(name: str, reports: Path, root: Path, tasks: list[str]) -> dict[str, System]:
    if Path(name).is_dir():
        system = read_system(Path(name), name=name)
        return {system.task: system}
    named = {task: _systems(reports / task) for task in tasks}
    folders = {task: own[name] for task, own in named.items() if name in own}
    if folders:
        return {task: read_system(folder, name=name) for task, folder in folders.items()}
    if _RUN_ID.fullmatch(name):
        with TemporaryDirectory() as temporary:
            folder, seed = fetch_evaluation(name, root=root, into=Path(temporary))
            system = read_system(folder, name=name, seed=seed)
        return {system.task: system}
    if revision := split_revision(name, root=root):
        with TemporaryDirectory() as temporary:
            found = fetch_revision(*revision, tasks=tasks, root=root, into=Path(temporary))
            systems = [read_system(folder, name=name) for folder in found]
        return {system.task: system for system in systems}
    known = sorted({one for own in named.values() for one in own})
    if not known:
        raise ArtifactError(f"{reports}: holds no reports of {' or '.join(tasks)}; run `dvc repro` to make them")
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    raise DataError(
        f"{name!r} is no cell, baseline, mixture, folder, run id or experiment; nearest: {near[0]}; all: "
        f"{', '.join(known)}"
    )


def _systems(folder: Path) -> dict[str, Path]:
    """The folder of scores of each cell, baseline and mixture of a task, by name."""
    found = {path.name: path for kind in ("cells", "baselines") for path in folder.glob(f"{kind}/*") if path.is_dir()}
    return found | {f"{path.parent.name}+kneser_ney": path for path in folder.glob("cells/*/mixture") if path.is_dir()}
