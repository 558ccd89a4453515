"""Where training goes on after it was stopped: one file an epoch, whole or not at all.

DVC deletes a stage's outputs before the stage runs, so checkpoints live outside them. Each is keyed by a hash of all
that training depends on; another key is another training, and starts at epoch 0.
"""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from elman.artifacts import replacing


class Progress(NamedTuple):
    """How far training has come.

    Attributes:
        epochs_done: Epochs that are complete.
        history: One dict of logged values an epoch.
        best_epoch: Counted from 0; -1 before the first.
        best_value: Of the watched measure, lower is better.
        epochs_since_best: For early stopping.
        schedule: Counters of the learning rate's schedule.
        finished: Whether no epoch is left to run.
    """

    epochs_done: int
    history: list[dict[str, float]]
    best_epoch: int
    best_value: float
    epochs_since_best: int
    schedule: dict[str, Any]
    finished: bool


class Checkpoint:
    """The state of one training in one file.

    Holds all variables of model (dropout's random generators among them) and optimizer, the best weights so far, and
    the counters of `Progress`; the order of batches needs no place, being a function of seed and epoch.

    Args:
        folder: One folder a task, cell and seed.
        key: Names all that training depends on; files of other keys in the folder are removed.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._path = folder / f"{key}.npz"
        self.replaced = folder.is_dir() and not self._path.exists() and any(folder.glob("*.npz"))
        for other in folder.glob("*.npz"):
            if other != self._path:
                other.unlink()

    def save(self, model: Any, optimizer: Any, best: list[Any], progress: Progress) -> None:
        """Writes everything; an older checkpoint stays until this one is whole."""
        arrays: dict[str, Any] = {
            f"model/{i}": np.asarray(variable.value) for i, variable in enumerate(_variables(model))
        }
        arrays |= {f"optimizer/{i}": np.asarray(variable.value) for i, variable in enumerate(optimizer.variables)}
        arrays |= {f"best/{i}": value for i, value in enumerate(best)}
        arrays["progress"] = np.frombuffer(json.dumps(progress._asdict()).encode(), np.uint8)
        with replacing(self._path) as temporary:
            np.savez(temporary, **arrays)

    def load(self, model: Any, optimizer: Any) -> tuple[list[Any], Progress] | None:
        """Restores model and optimizer in place; None where there is nothing that can be used."""
        try:
            # Opened here: np.load does not close a file that turns out to be damaged.
            with self._path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (FileNotFoundError, ValueError, EOFError, zipfile.BadZipFile):
            return None
        for kind, variables in (("model", _variables(model)), ("optimizer", optimizer.variables)):
            for index, variable in enumerate(variables):
                variable.assign(arrays[f"{kind}/{index}"])
        best = [arrays[f"best/{index}"] for index in range(len(model.weights))]
        return best, Progress(**json.loads(arrays["progress"].tobytes().decode()))

    def remove(self) -> None:
        """Deletes the folder; called when the stage's outputs are written."""
        shutil.rmtree(self._path.parent, ignore_errors=True)


def _variables(model: keras.Model) -> list[Any]:
    """Weights, and the states of random generators, which `model.weights` leaves out."""
    return list(model.variables)
