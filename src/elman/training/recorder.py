"""What training asks of whoever records it: elman.tracking, which stands above and is not imported here."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import keras


class Run(Protocol):
    """One recorded run."""

    run_id: str

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Values of one epoch, counted from 1."""

    def log_artifact(self, path: Path, folder: str | None = None) -> None:
        """Keeps a copy of a file or folder."""


class ParentRun(Run, Protocol):
    """The run of a task and cell, with one child a seed."""

    def child_run(
        self, *, seed: int, params: Mapping[str, Any], tags: Mapping[str, Any] | None = None
    ) -> AbstractContextManager[Run]:
        """The run of one seed."""

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
    """Passes each epoch's values to a run."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Counts epochs from 1, as people do."""
        self._run.log_epoch(epoch + 1, logs)
