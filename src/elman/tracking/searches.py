"""Runs of `elman search`: one a search, and one below it a trial.

Their levels are `search` and `trial`, so that the views of cells and seeds, which go by `parent` and `seed`, leave them
out; neither carries the tag `cell`, by which seeds are grouped.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from elman.tracking.runs import Run, recording
from elman.tracking.tracker import LEVEL_TAG, Tracker
from elman.tracking.views import COLORS

_SEARCH_NOTE = """\
A search for settings of the {cell} cell on the task {task}: each run below is one training with other settings, \
scored on validation. `valid/best_loss` is the lowest validation loss so far; the step is the number of trials. The \
test split was not read.
"""

_TRIAL_NOTE = """\
Trial {number} of a search for settings of the {cell} cell on the task {task}. `train/...` and `valid/...` are its \
curves, by epoch; `valid/best_loss` is what it is judged by. The tag `ended` says whether it trained to its end.
"""


class SearchRun(Run):
    """The run of a search; its trials are runs below it."""

    def __init__(self, tracker: Tracker, run_id: str, labels: Mapping[str, str]) -> None:
        super().__init__(tracker.client, tracker.uri, run_id, writer=tracker.writer)
        self._tracker = tracker
        self._labels = labels

    @contextmanager
    def trial_run(self, *, number: int, params: Mapping[str, Any]) -> Iterator[Run]:
        """The run of one trial: open inside the block, ended with it."""
        note = _TRIAL_NOTE.format(number=number, cell=self._labels["search_cell"], task=self._labels["task"])
        own = {LEVEL_TAG: "trial", "mlflow.parentRunId": self.run_id, "mlflow.note.content": note}
        run = self._tracker.run(self._tracker.create(f"trial {number}", {**self._labels, **own}))
        with recording(run, self._tracker.alive):
            run.log_params({"trial": number, **params})
            yield run


class SearchTracker:
    """Opens runs of searches in the experiment of a tracker."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker

    @contextmanager
    def search_run(
        self, *, task: str, cell: str, params: Mapping[str, Any], tags: Mapping[str, Any], run_id: str | None = None
    ) -> Iterator[SearchRun]:
        """The run of a search; with `run_id` the one of an earlier call, where the store still holds it."""
        labels = {"task": task, "search_cell": cell}
        if cell in COLORS:
            labels["mlflow.runColor"] = COLORS[cell]
        if run_id is None or not self._tracker.has_run(run_id):
            note = {"mlflow.note.content": _SEARCH_NOTE.format(cell=cell, task=task)}
            run_id = self._tracker.create(f"search {cell}", {**tags, **labels, **note, LEVEL_TAG: "search"})
        run = SearchRun(self._tracker, run_id, labels)
        with recording(run, self._tracker.alive):
            run.log_params({"search_cell": cell, **params})
            yield run
