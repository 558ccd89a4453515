"""What a search asks of whoever records it: elman.tracking, which is not imported here."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class TrialRun(Protocol):
    """The run of one trial."""

    run_id: str

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Values of one epoch, counted from 1."""

    def log_metrics(self, metrics: Mapping[str, float | None], *, step: int = 0) -> None:
        """Values at the end."""

    def log_artifact(self, path: Path, folder: str | None = None) -> None:
        """Keeps a copy of a file or folder."""

    def set_tags(self, tags: Mapping[str, Any]) -> None:
        """How it ended."""


class SearchRun(TrialRun, Protocol):
    """The run of a search, with one child a trial."""

    def trial_run(self, *, number: int, params: Mapping[str, Any]) -> AbstractContextManager[TrialRun]:
        """The run of one trial."""


class SearchRecorder(Protocol):
    """Opens runs of searches."""

    def search_run(
        self, *, task: str, cell: str, params: Mapping[str, Any], tags: Mapping[str, Any], run_id: str | None
    ) -> AbstractContextManager[SearchRun]:
        """The run of a search; `run_id` is the one of an earlier call, gone on with where it is still there."""
