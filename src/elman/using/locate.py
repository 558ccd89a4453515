"""A trained model by its name: a cell, a cell's folder or a seed's folder."""

import difflib
from pathlib import Path
from typing import NamedTuple, get_args

from elman.config import Cell, Task
from elman.errors import ArtifactError
from elman.models.serving import Serving, read_serving
from elman.storage import can_exist

_SEED = "seed-"
_SHOWN = 80  # characters of a name


class Located(NamedTuple):
    """A seed's folder, and what belongs to it.

    Attributes:
        folder: models/<task>/<cell>/seed-<n>.
        seed: n.
        serving: What serving.json beside it says.
        best_of: How many seeds it is the best of on validation; None where the name told the seed.
    """

    folder: Path
    seed: int
    serving: Serving
    best_of: int | None


def locate(name: str | Path, *, models: Path, task: str | None = None) -> Located:
    """Finds a model; of a cell's seeds the one with the lowest validation loss.

    Args:
        name: `lstm`, `classifier/lstm`, or a folder: models/<task>/<cell> or a seed's folder in it.
        models: The folder with a folder for each task.
        task: "classifier" or "language_model", where only that one will do.

    Raises:
        ArtifactError: There is no such model, there are two, it is for the other task, or it is not whole.
    """
    folder = _folder(str(name), models=models, task=task)
    number = folder.name.removeprefix(_SEED)
    own = folder.name.startswith(_SEED) and number.isdigit()
    serving = read_serving(folder.parent if own else folder)
    if task is not None and serving.task != task:
        command = {"classifier": "classify", "language_model": "score"}[serving.task]
        raise ArtifactError(f"{folder}: this is a {_words(serving.task)}, not a {_words(task)}: `elman {command}`")
    if not own:
        seed = serving.best_seed
        return Located(folder / f"{_SEED}{seed}", seed, serving, len(serving.valid_loss))
    if int(number) not in serving.valid_loss:
        raise ArtifactError(f"{folder}: the serving.json beside it knows the seeds {sorted(serving.valid_loss)} only")
    return Located(folder, int(number), serving, None)


def _folder(name: str, *, models: Path, task: str | None) -> Path:
    tasks = get_args(Task)
    if name in get_args(Cell):
        found = [folder for one in (tasks if task is None else (task,)) if (folder := models / one / name).is_dir()]
        if len(found) > 1:
            both = " or ".join(f"{one}/{name}" for one in tasks)
            raise ArtifactError(f"{name!r} was trained for both tasks: say {both}")
        if found:
            return found[0]
    folders = [Path(name), *([models / name] if name.split("/")[0] in tasks else [])]
    for folder in folders:
        if can_exist(folder) and folder.is_dir():
            return folder.resolve() if folder.name in ("", "..") else folder
    raise ArtifactError(_no_such_model(name, models=models, task=task))


def _no_such_model(name: str, *, models: Path, task: str | None) -> str:
    pattern = f"{task or '*'}/*/serving.json"
    there = sorted(path.parent.relative_to(models).as_posix() for path in models.glob(pattern))
    listed = f"{models.resolve()} holds {', '.join(there) or 'no trained model'}"
    near = difflib.get_close_matches(name, [*there, *(one.split("/")[-1] for one in there)], n=1)
    hint = f"; did you mean {near[0]}?" if near else ". The model comes first, then the text." if " " in name else "."
    return f"{_shown(name)}: no such model{hint} It can be a cell, task/cell, or a folder; {listed}"


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def _words(task: str) -> str:
    return task.replace("_", " ")
