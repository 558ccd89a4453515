"""What a study asks of whoever records it: elman.tracking, which stands above and is not imported here."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol


class SeedRun(Protocol):
    """The run of one training."""

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Values after a number of updates."""

    def log_metrics(self, metrics: Mapping[str, float]) -> None:
        """Values at the end."""


class CellRun(SeedRun, Protocol):
    """The run of a cell, with one child a seed."""

    def child_run(self, *, seed: int, params: Mapping[str, Any]) -> AbstractContextManager[SeedRun]:
        """The run of one seed."""


class Recorder(Protocol):
    """Opens runs."""

    def parent_run(
        self, *, task: str, cell: str, seeds: list[int], params: Mapping[str, Any]
    ) -> AbstractContextManager[CellRun]:
        """The run of a cell over all its seeds."""


class Unrecorded:
    """A recorder, and its runs, that keep nothing."""

    @contextmanager
    def parent_run(
        self, *, task: str, cell: str, seeds: list[int], params: Mapping[str, Any]
    ) -> Iterator["Unrecorded"]:
        """Itself."""
        yield self

    @contextmanager
    def child_run(self, *, seed: int, params: Mapping[str, Any]) -> Iterator["Unrecorded"]:
        """Itself."""
        yield self

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Nothing."""

    def log_metrics(self, metrics: Mapping[str, float]) -> None:
        """Nothing."""
