"""Where training goes on after it was stopped: the last two states of it, whole and verified.

DVC deletes a stage's outputs before the stage runs, so checkpoints live outside them. Each is keyed by a hash of all
that training depends on; another key is another training, and starts at epoch 0.
"""

import dataclasses
import json
import re
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from elman.artifacts import read_json, replacing, sha256_file, write_json
from elman.errors import ArtifactError
from elman.training.epoch_so_far import EpochSoFar

_KEPT = 2  # files; the older one is there for the case that the newer one is damaged
_DIGITS = 32  # of the SHA-256 in a file's name


class Progress(NamedTuple):
    """How far training has come, in whole epochs.

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


class Runs(NamedTuple):
    """Where a training is recorded, so that one that goes on is recorded in the same place."""

    run_id: str
    parent_run_id: str


class Checkpoint:
    """The states of one training on disk, `<key>-<number>-<hash>.npz`, of which the newest two are kept.

    A state holds all variables of model (dropout's random generators among them) and optimizer, the best weights so
    far, the counters of `Progress`, and the epoch that is going on: its position, sums and carried state. The order of
    batches needs no place, being a function of seed and epoch. A file's name holds its hash; one that does not fit is
    left out.

    Args:
        folder: One folder a task, cell and seed.
        key: Names all that training depends on; files of other keys in the folder are removed.
        minutes: How much work may be lost between two states; 0 saves after each step.
    """

    def __init__(self, folder: Path, key: str, *, minutes: float = 5.0) -> None:
        self._folder, self._key, self._minutes = folder, key, minutes
        found = [path for path in folder.glob("*") if path.suffix in (".npz", ".json")]
        others = [path for path in found if not path.name.startswith((f"{key}-", f"{key}."))]
        self.replaced = bool(others) and len(others) == len(found)
        self.damaged: list[Path] = []
        for path in others:
            path.unlink()
        self._saved_at = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether so much work has been done since the last state that the next one is to be saved."""
        return time.monotonic() - self._saved_at >= 60.0 * self._minutes

    def save(self, model: Any, optimizer: Any, best: list[Any], progress: Progress, so_far: EpochSoFar) -> None:
        """Writes everything; the state before stays, and the one before that until this one is whole.

        Args:
            model: The model.
            optimizer: Its optimizer.
            best: The weights of the best epoch, or nothing before there is one.
            progress: Whole epochs.
            so_far: The epoch that is going on.
        """
        arrays = {f"model/{i}": np.asarray(variable.value) for i, variable in enumerate(_variables(model))}
        arrays |= {f"optimizer/{i}": np.asarray(variable.value) for i, variable in enumerate(optimizer.variables)}
        arrays |= {f"best/{i}": value for i, value in enumerate(best)}
        state = None if so_far.state is None else [np.asarray(part) for part in so_far.state]
        # In float32, which holds a bfloat16 exactly: NumPy's file format does not know that type.
        arrays |= {f"state/{i}": part.astype(np.float32) for i, part in enumerate(state or ())}
        types = None if state is None else [part.dtype.name for part in state]
        counters = {"progress": progress._asdict(), "so_far": so_far.counters(), "state_types": types}
        arrays["counters"] = np.frombuffer(json.dumps(counters).encode(), np.uint8)
        files = self._files()
        number = _number(files[-1]) + 1 if files else 1
        unnamed = self._folder / f"{self._key}.npz"
        with replacing(unnamed) as temporary:
            np.savez(temporary, **arrays)  # type: ignore[arg-type]
        unnamed.rename(self._folder / f"{self._key}-{number:08d}-{sha256_file(unnamed)[:_DIGITS]}.npz")
        for path in files[: max(0, len(files) + 1 - _KEPT)]:
            path.unlink(missing_ok=True)
        self._saved_at = time.monotonic()

    def load(self, model: Any, optimizer: Any) -> tuple[list[Any], Progress, EpochSoFar] | None:
        """Restores model and optimizer in place from the newest whole state; None where there is none.

        Files that are not as they were written are named in `damaged` and deleted.
        """
        for path in reversed(self._files()):
            if sha256_file(path)[:_DIGITS] == path.stem.rpartition("-")[2]:
                return _restore(path, model, optimizer)
            self.damaged.append(path)
            path.unlink()
        return None

    def record(self, runs: Runs) -> None:
        """Remembers where the training is recorded."""
        write_json(self._folder / f"{self._key}.json", runs._asdict())

    def runs(self) -> Runs | None:
        """Where the training was recorded before it was stopped, or None."""
        try:
            return Runs(**read_json(self._folder / f"{self._key}.json"))
        except (ArtifactError, TypeError):
            return None

    def remove(self) -> None:
        """Deletes the folder; called when the stage's outputs are written."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _files(self) -> list[Path]:
        """Whole files of this key, oldest first."""
        named = re.compile(rf"{re.escape(self._key)}-\d+-[0-9a-f]{{{_DIGITS}}}\.npz")
        return sorted((path for path in self._folder.glob("*.npz") if named.fullmatch(path.name)), key=_number)


def _number(path: Path) -> int:
    return int(path.stem.split("-")[-2])


def _restore(path: Path, model: Any, optimizer: Any) -> tuple[list[Any], Progress, EpochSoFar]:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    for kind, variables in (("model", _variables(model)), ("optimizer", optimizer.variables)):
        for index, variable in enumerate(variables):
            variable.assign(arrays[f"{kind}/{index}"])
    counters = json.loads(arrays["counters"].tobytes().decode())
    types = counters["state_types"]
    state = None if types is None else tuple(arrays[f"state/{i}"].astype(name) for i, name in enumerate(types))
    so_far = dataclasses.replace(EpochSoFar(**counters["so_far"]), state=state)
    best = [arrays[f"best/{index}"] for index in range(sum(name.startswith("best/") for name in arrays))]
    return best, Progress(**counters["progress"]), so_far


def _variables(model: keras.Model) -> list[Any]:
    """Weights, and the states of random generators, which `model.weights` leaves out."""
    return list(model.variables)
