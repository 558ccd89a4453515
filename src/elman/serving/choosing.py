"""Which models a server takes where the user does not say, or says only a cell."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from elman.config import Cell, Task
from elman.errors import ArtifactError
from elman.models.serving import NAME, read_serving


def names_of(given: Sequence[str], *, models: Path) -> list[str]:
    """The names of the models, for `elman.packages.finding.find`.

    Args:
        given: By the user. A cell stands for its classifier and its language model, where both were trained. None at
            all: of each task the cell whose best seed has the lowest validation loss.
        models: The folder with a folder for each task.

    Raises:
        ArtifactError: There are no models, or one is not whole.
    """
    if not given:
        found = [name for task in get_args(Task) if (name := _best(task, models=models))]
        if not found:
            raise ArtifactError(f"{models.resolve()} holds no trained model; run `dvc repro`, or name a model")
        return found
    names: list[str] = []
    for name in given:
        tasks = [task for task in get_args(Task) if name in get_args(Cell) and (models / task / name).is_dir()]
        names += [f"{task}/{name}" for task in tasks] or [name]
    return names


def _best(task: str, *, models: Path) -> str | None:
    losses = {}
    for path in sorted((models / task).glob(f"*/{NAME}")):
        serving = read_serving(path.parent)
        losses[f"{task}/{path.parent.name}"] = serving.valid_loss[serving.best_seed]
    return min(losses, key=lambda name: losses[name]) if losses else None
