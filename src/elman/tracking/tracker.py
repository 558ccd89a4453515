"""Opens the tracking store and makes runs: a parent for each cell that is trained, a child for each seed."""

import getpass
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from elman.errors import TrackingError
from elman.tracking import liveness, store
from elman.tracking.runs import ERROR_TAG, Run, recording
from elman.tracking.views import COLORS, view_tags

LEVEL_TAG = "elman.level"  # parent or seed

_EXPERIMENT_NOTE = """\
One run for each cell that was trained (`elman.level` = parent), and below it one run for each seed.

* A parent's `test/...` metrics are means over its seeds; `_low` and `_high` are the ends of the 95 % interval.
* A language model's `test/mixture_...` are those of its networks mixed with the Kneser-Ney baseline.
* A seed's `train/...` and `valid/...` metrics are its curves; the step is the epoch.
* Only seeds carry the tag `cell`: group by it, and each group holds the seeds of one cell.
* `elman search` adds runs with `elman.level` = search, and a run below for each trial; the views leave them out.
* "Views" (above, right) has both: the cells with their test measures, and the seeds in groups by cell.
"""

_PARENT_NOTE = """\
{name}: the {cell} cell on the task {task}, over the seeds {seeds}.

The `test/...` metrics are means over the seeds, with the 95 % t interval from `_low` to `_high` (none with one seed). \
The curves are in the runs of the seeds, below this one. The parameters are those of params.yaml.
"""

_SEED_NOTE = """\
{name}: one training of the {cell} cell on the task {task} with the seed {seed}. `train/...` and `valid/...` are its \
curves, by epoch; `test/...` is the score of its best epoch. The run above it holds the mean over all seeds.
"""


def experiment_name(dataset: str, task: str) -> str:
    """One experiment for each data set and task: numbers of two data sets are never one below the other.

    Example:
        >>> experiment_name("reuters-r8", "language_model")
        'reuters-r8 language model'
    """
    return f"{dataset} {task.replace('_', ' ')}"


class ParentRun(Run):
    """The run of a cell; its seeds are runs below it."""

    def __init__(self, tracker: "Tracker", run_id: str, *, task: str, cell: str) -> None:
        super().__init__(tracker.client, tracker.uri, run_id)
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
        run_id = known or self._tracker.create(name, {**(tags or {}), **labels, **own, **_color(self._cell)})
        self._children[seed] = run_id
        run = Run(self._tracker.client, self._tracker.uri, run_id)
        with recording(run, self._tracker.alive):
            if known:
                run.set_tags({**(tags or {}), **own})
            run.log_params({"cell": self._cell, "seed": seed, **params})
            yield run

    def adopt(self, *, seed: int, run_id: str) -> None:
        """Takes the run of a seed that was trained before below this one; a run that the store lacks is left out."""
        if self._tracker.has_run(run_id):
            Run(self._tracker.client, self._tracker.uri, run_id).set_tags({"mlflow.parentRunId": self.run_id})
            self._children[seed] = run_id

    def release(self, run_ids: Mapping[int, str]) -> None:
        """Takes the runs of seeds that are not asked for any more out of the views; they stay in the store."""
        for seed, run_id in run_ids.items():
            if self._tracker.has_run(run_id):
                note = f"Seed {seed} of {self._cell}, which is not among the cell's seeds any more."
                run = Run(self._tracker.client, self._tracker.uri, run_id)
                run.set_tags({LEVEL_TAG: "removed", "mlflow.note.content": note})

    def ids(self) -> dict[str, Any]:
        """What a train stage writes to run.json, for evaluate to resume the runs."""
        return {
            "parent_run_id": self.run_id,
            "experiment_id": self._tracker.experiment_id,
            "runs": {str(seed): run_id for seed, run_id in self._children.items()},
        }


class Tracker:
    """The door to one experiment of the tracking store.

    Example:
        ```
        tracker = Tracker.open(root=Path("."), experiment=experiment_name("reuters-r8", "classifier"))
        with tracker.parent_run(task="classifier", cell="lstm", seeds=[1], params={"units": 128}) as parent:
            with parent.child_run(seed=1, params={"units": 128}) as child:
                child.log_epoch(1, {"train_loss": 1.2, "valid_loss": 1.1})
        ```
    """

    def __init__(self, client: Any, *, uri: str, root: Path, experiment_id: str) -> None:
        self.client = client
        self.uri = uri
        self.experiment_id = experiment_id
        self._root = root.resolve()
        self.alive = liveness.Alive(self._root / store.FOLDER / "alive")

    @classmethod
    def open(cls, *, root: Path, experiment: str) -> Self:
        """Opens the store of the checkout at `root` (or `MLFLOW_TRACKING_URI`), making what is missing.

        Runs that read RUNNING though their process is gone become FAILED. Safe when several processes start at once.

        Raises:
            TrackingError: The store cannot be reached, or refuses.
        """
        uri = store.store_uri(root)
        with store.opening(root):
            client = store.open_client(uri)
            tags = {
                "mlflow.experimentKind": "custom_model_development",
                "mlflow.note.content": _EXPERIMENT_NOTE,
                **view_tags(),
            }
            found = store.open_experiment(client, name=experiment, uri=uri, root=root, tags=tags)
        tracker = cls(client, uri=uri, root=root, experiment_id=found)
        tracker.fail_lost_runs()
        return tracker

    def close(self) -> None:
        """Gives this process' lock back; runs cannot be made any more."""
        self.alive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def parent_run(
        self,
        *,
        task: str,
        cell: str,
        seeds: list[int] | None = None,
        params: Mapping[str, Any],
        tags: Mapping[str, Any] | None = None,
        resume: str | None = None,
    ) -> Iterator[ParentRun]:
        """The run of a cell over all its seeds: open inside the block, ended with it.

        It carries the tag `cell_summary` instead of `cell`, so that a grouping by `cell` averages seeds only. The seeds
        are a tag, since they may grow.

        Args:
            task: "classifier" or "language_model".
            cell: The cell.
            seeds: All its seeds.
            params: The settings.
            tags: What else the run carries.
            resume: The run of the same cell and settings to go on with, where the store has it.
        """
        among = "as they come" if seeds is None else ", ".join(map(str, seeds))
        note = _PARENT_NOTE.format(name=cell, cell=cell, task=task, seeds=among)
        labels = {"cell_summary": cell, "task": task, LEVEL_TAG: "parent", "mlflow.note.content": note}
        labels |= {"seeds": among, "num_seeds": str(len(seeds or []))}
        known = resume if resume is not None and self.has_run(resume) else None
        run_id = known or self.create(cell, {**(tags or {}), **labels, **_color(cell)})
        parent = ParentRun(self, run_id, task=task, cell=cell)
        with recording(parent, self.alive):
            if known:
                parent.set_tags({**(tags or {}), **labels})
            parent.log_params({"cell_summary": cell, **params})
            yield parent

    @contextmanager
    def resume(self, run_id: str) -> Iterator[Run]:
        """An ended run once more, to add what came later; it keeps its end, and so its duration.

        Raises:
            TrackingError: The store has no such run.
        """
        if not self.has_run(run_id):
            raise TrackingError(
                f"{store.shown(self.uri)}: no run {run_id}, which run.json beside the model names. The store is "
                "another one or was replaced; run the train stage again (`dvc repro --force <stage>`) to record it here"
            )
        run = Run(self.client, self.uri, run_id)
        with recording(run, self.alive, end_time=run.finished_at()):
            yield run

    def has_run(self, run_id: str) -> bool:
        """Whether the store holds this run, not deleted: a model from a shared cache was recorded elsewhere."""
        from mlflow.exceptions import MlflowException

        with store.reported(self.uri):
            try:
                return bool(self.client.get_run(run_id).info.lifecycle_stage == "active")
            except MlflowException as error:
                if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                    return False
                raise

    def create(self, name: str, tags: Mapping[str, Any]) -> str:
        """Makes a run and returns its id; `parent_run` and `child_run` are what callers want."""
        who = {"mlflow.user": _user(), "mlflow.source.type": "LOCAL", "mlflow.source.name": Path(sys.argv[0]).name}
        values = {key: str(value) for key, value in {**who, **tags, **self.alive.tags()}.items()}
        with store.reported(self.uri):
            return str(self.client.create_run(self.experiment_id, run_name=name, tags=values).info.run_id)

    def fail_lost_runs(self) -> list[str]:
        """Ends runs of all experiments that read RUNNING though their process is gone, as FAILED; returns their ids."""
        lost = []
        shared = store.is_own_store(self.uri, self._root)
        with store.reported(self.uri):
            experiments = [item.experiment_id for item in self.client.search_experiments(max_results=1000)]
            running = self.client.search_runs(experiments, "attributes.status = 'RUNNING'", max_results=1000)
            for run in running:
                if not liveness.is_gone(run.data.tags, shared_disk=shared):
                    continue
                self.client.set_tag(run.info.run_id, ERROR_TAG, "the process ended without a word; a later job saw it")
                self.client.set_terminated(run.info.run_id, "FAILED", self._last_sign(run))
                lost.append(str(run.info.run_id))
        liveness.remove_stale(self._root / store.FOLDER / "alive")
        return lost

    def _last_sign(self, run: Any) -> int:
        """Milliseconds of the last thing that the run logged: nobody saw its end, and "now" may be days later."""
        times = [run.info.start_time]
        for key in run.data.metrics:
            times += [point.timestamp for point in self.client.get_metric_history(run.info.run_id, key)]
        return int(min(max(times), time.time() * 1000))


def _color(cell: str) -> dict[str, str]:
    return {"mlflow.runColor": COLORS[cell]} if cell in COLORS else {}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user number without a name
        return "unknown"
