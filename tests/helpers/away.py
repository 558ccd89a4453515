"""A tracking store that does not answer for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from elman.tracking.tracker import Tracker

_METHODS = (
    "create_run",
    "update_run",
    "set_terminated",
    "set_tag",
    "delete_tag",
    "log_batch",
    "log_text",
    "log_artifact",
    "log_artifacts",
    "get_run",
    "get_metric_history",
    "search_runs",
    "search_experiments",
    "get_experiment_by_name",
)


@contextmanager
def away(tracker: Tracker, error: Exception | None = None) -> Iterator[None]:
    """Whatever a tracker asks of its store fails inside the block."""

    def fail(*_: Any, **__: Any) -> None:
        raise error or ConnectionError("no route to the store")

    with pytest.MonkeyPatch.context() as patch:
        for name in _METHODS:
            patch.setattr(tracker.client, name, fail)
        yield
