"""What training asks of whoever records it: elman.tracking, which stands above and is not imported here."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import keras


class EpochLog(Protocol):
    """What takes values of epochs."""

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Values of one epoch, counted from 1."""


class Run(EpochLog, Protocol):
    """One recorded run."""

    run_id: str

    def logged_epochs(self) -> int:
        """How many epochs stand in the record."""

    def log_artifact(self, path: Path, folder: str | None = None) -> None:
        """Keeps a copy of a file or folder."""


class ParentRun(Run, Protocol):
    """The run of a task and cell, with one child a seed."""

    def child_run(
        self,
        *,
        seed: int,
        params: Mapping[str, Any],
        tags: Mapping[str, Any] | None = None,
        resume: str | None = None,
    ) -> AbstractContextManager[Run]:
        """The run of one seed, that of `resume` where the store has it."""

    def adopt(self, *, seed: int, run_id: str) -> None:
        """Takes the run of a seed that was trained before as its own."""

    def release(self, run_ids: Mapping[int, str]) -> None:
        """Takes the runs of seeds that are not asked for any more out of the comparison."""

    def ids(self) -> dict[str, Any]:
        """What evaluation needs to find the runs again."""


class Recorder(Protocol):
    """Opens runs."""

    def parent_run(
        self,
        *,
        task: str,
        cell: str,
        seeds: list[int],
        params: Mapping[str, Any],
        tags: Mapping[str, Any],
        resume: str | None = None,
    ) -> AbstractContextManager[ParentRun]:
        """The run of a task and cell, that of `resume` where the store has it; it ends FAILED or KILLED if need be."""


class EpochRecord(keras.callbacks.Callback):
    """Passes each epoch's values to a run.

    Args:
        run: The run.
        done: How many epochs it has already, of an earlier process.
    """

    def __init__(self, run: EpochLog, *, done: int = 0) -> None:
        super().__init__()
        self._run, self._done = run, done

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Counts epochs from 1, as people do."""
        if epoch + 1 > self._done:
            self._run.log_epoch(epoch + 1, logs)
