"""The run of a cell that is trained, and below it the runs of its seeds."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from elman.tracking.runs import Run, recording
from elman.tracking.views import COLORS

if TYPE_CHECKING:
    from elman.tracking.tracker import Tracker

LEVEL_TAG = "elman.level"  # parent or seed

PARENT_NOTE = """\
{name}: the {cell} cell on the task {task}, over the seeds {seeds}.

The `test/...` metrics are means over the seeds, with the 95 % t interval from `_low` to `_high` (none with one seed). \
The curves are in the runs of the seeds, below this one. The parameters are those of params.yaml.
"""

_SEED_NOTE = """\
{name}: one training of the {cell} cell on the task {task} with the seed {seed}. `train/...` and `valid/...` are its \
curves, by epoch; `test/...` is the score of its best epoch. The run above it holds the mean over all seeds.
"""


class ParentRun(Run):
    """The run of a cell; its seeds are runs below it."""

    def __init__(self, tracker: "Tracker", run_id: str, *, task: str, cell: str) -> None:
        super().__init__(tracker.client, tracker.uri, run_id, writer=tracker.writer)
        self._tracker = tracker
        self._task = task
        self._cell = cell
        self._children: dict[int, str] = {}

    @contextmanager
    def child_run(
        self,
        *,
        seed: int,
        params: Mapping[str, Any],
        tags: Mapping[str, Any] | None = None,
        resume: str | None = None,
    ) -> Iterator[Run]:
        """The run of one seed: open inside the block, ended with it.

        Args:
            seed: The seed.
            params: The settings.
            tags: What else the run carries.
            resume: The run of the same training, which an earlier process began; used where the store has it.
        """
        name = f"{self._cell} seed {seed}"
        labels = {"cell": self._cell, "task": self._task, "seed": seed, LEVEL_TAG: "seed"}
        note = _SEED_NOTE.format(name=name, cell=self._cell, task=self._task, seed=seed)
        own = {"mlflow.parentRunId": self.run_id, "mlflow.note.content": note}
        known = resume if resume is not None and self._tracker.has_run(resume) else None
        run_id = known or self._tracker.create(name, {**(tags or {}), **labels, **own, **run_color(self._cell)})
        self._children[seed] = run_id
        run = self._tracker.run(run_id)
        with recording(run, self._tracker.alive):
            if known:
                run.set_tags({**(tags or {}), **own})
            run.log_params({"cell": self._cell, "seed": seed, **params})
            yield run

    def adopt(self, *, seed: int, run_id: str) -> None:
        """Takes the run of a seed that was trained before below this one; a run that the store lacks is left out."""
        if self._tracker.has_run(run_id):
            self._tracker.run(run_id).set_tags({"mlflow.parentRunId": self.run_id})
            self._children[seed] = run_id

    def release(self, run_ids: Mapping[int, str]) -> None:
        """Takes the runs of seeds that are not asked for any more out of the views; they stay in the store."""
        for seed, run_id in run_ids.items():
            if self._tracker.has_run(run_id):
                note = f"Seed {seed} of {self._cell}, which is not among the cell's seeds any more."
                self._tracker.run(run_id).set_tags({LEVEL_TAG: "removed", "mlflow.note.content": note})

    def ids(self) -> dict[str, Any]:
        """What a train stage writes to run.json, for evaluate to resume the runs."""
        return {
            "parent_run_id": self.run_id,
            "experiment_id": self._tracker.experiment_id,
            "runs": {str(seed): self._writer.name(run_id) for seed, run_id in self._children.items()},
        }


def run_color(cell: str) -> dict[str, str]:
    """The tag with a cell's colour on the page."""
    return {"mlflow.runColor": COLORS[cell]} if cell in COLORS else {}
