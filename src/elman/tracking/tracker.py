"""Opens the tracking store and makes runs: a parent for each cell that is trained, a child for each seed."""

import getpass
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from elman.errors import TrackingError
from elman.tracking import liveness, store
from elman.tracking.entries import ERROR_TAG, LOST, make_entry
from elman.tracking.parent_run import LEVEL_TAG as LEVEL_TAG
from elman.tracking.parent_run import PARENT_NOTE, ParentRun, run_color
from elman.tracking.replay import Replayed, replay_left, replayed_words
from elman.tracking.runs import Run, recording
from elman.tracking.spool import FOLDER as SPOOL
from elman.tracking.spool import Spool
from elman.tracking.views import view_tags
from elman.tracking.writer import Writer

_EXPERIMENT_NOTE = """\
One run for each cell that was trained (`elman.level` = parent), and below it one run for each seed.

* A parent's `test/...` metrics are means over its seeds; `_low` and `_high` are the ends of the 95 % interval.
* A language model's `test/mixture_...` are those of its networks mixed with the Kneser-Ney baseline.
* A seed's `train/...` and `valid/...` metrics are its curves; the step is the epoch.
* Only seeds carry the tag `cell`: group by it, and each group holds the seeds of one cell.
* `elman search` adds runs with `elman.level` = search, and a run below for each trial; the views leave them out.
* "Views" (above, right) has both: the cells with their test measures, and the seeds in groups by cell.
"""


def experiment_name(dataset: str, task: str) -> str:
    """One experiment for each data set and task: numbers of two data sets are never one below the other.

    Example:
        >>> experiment_name("reuters-r8", "language_model")
        'reuters-r8 language model'
    """
    return f"{dataset} {task.replace('_', ' ')}"


class Tracker:
    """The door to one experiment of the tracking store.

    It needs the store when it is opened. When the store goes away later, what is recorded is kept below `mlruns/spool`
    and written when the store is back, at the latest when the next tracker is opened.

    Example:
        ```
        tracker = Tracker.open(root=Path("."), experiment=experiment_name("reuters-r8", "classifier"))
        with tracker.parent_run(task="classifier", cell="lstm", seeds=[1], params={"units": 128}) as parent:
            with parent.child_run(seed=1, params={"units": 128}) as child:
                child.log_epoch(1, {"train_loss": 1.2, "valid_loss": 1.1})
        ```
    """

    def __init__(self, client: Any, *, uri: str, root: Path, experiment_id: str, experiment: str) -> None:
        self.client = client
        self.uri = uri
        self.experiment_id = experiment_id
        self._experiment = experiment
        self._root = root.resolve()
        self._spool = Spool(self._root / store.FOLDER / SPOOL, store=store.spool_name(uri, root))
        self.writer = Writer(client, uri, spool=self._spool)
        self.alive = liveness.Alive(self._root / store.FOLDER / "alive")

    @classmethod
    def open(cls, *, root: Path, experiment: str) -> Self:
        """Opens the store of the checkout at `root` (or `MLFLOW_TRACKING_URI`), making what is missing.

        What earlier processes could not write is written now. Runs that read RUNNING though their process is gone
        become FAILED. Safe when several processes start at once.

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
            tracker = cls(client, uri=uri, root=root, experiment_id=found, experiment=experiment)
        try:
            for line in replayed_words(tracker.replay()):
                print(line, file=sys.stderr, flush=True)  # noqa: T201
            tracker.fail_lost_runs()
        except BaseException:
            tracker.close(last_try=False)
            raise
        return tracker

    def close(self, *, last_try: bool = True) -> None:
        """Gives this process' locks back; runs cannot be made any more.

        Args:
            last_try: Whether to ask the store once more, where something waits for it.
        """
        self.writer.close(last_try=last_try)
        self.alive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(last_try=kind is None)  # who was asked to stop has no time to wait

    def run(self, run_id: str) -> Run:
        """A run of the store, to write to."""
        return Run(self.client, self.uri, run_id, writer=self.writer)

    def replay(self) -> Replayed:
        """Writes what earlier processes could not write.

        Raises:
            TrackingError: The store is away; what is not written stays on disk.
        """
        return replay_left(self.client, self.uri, self._spool)

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
        note = PARENT_NOTE.format(name=cell, cell=cell, task=task, seeds=among)
        labels = {"cell_summary": cell, "task": task, LEVEL_TAG: "parent", "mlflow.note.content": note}
        labels |= {"seeds": among, "num_seeds": str(len(seeds or []))}
        known = resume if resume is not None and self.has_run(resume) else None
        run_id = known or self.create(cell, {**(tags or {}), **labels, **run_color(cell)})
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
        run = self.run(run_id)
        with recording(run, self.alive, end_time=self._end_of(run)):
            yield run

    def has_run(self, run_id: str) -> bool:
        """Whether the store holds this run, not deleted: a model from a shared cache was recorded elsewhere.

        True while the store is away: what is written then is kept, and set aside if the store turns out to have no
        such run.
        """
        from mlflow.exceptions import MlflowException

        if self.writer.away:
            return True
        try:
            with store.reported(self.uri):
                try:
                    found = self.writer.find(run_id)
                    return bool(found and self.client.get_run(found).info.lifecycle_stage == "active")
                except MlflowException as error:
                    if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                        return False
                    raise
        except TrackingError as error:
            self.writer.trouble(error)
            return True

    def create(self, name: str, tags: Mapping[str, Any]) -> str:
        """Makes a run and returns its id; `parent_run` and `child_run` are what callers want."""
        who = {"mlflow.user": _user(), "mlflow.source.type": "LOCAL", "mlflow.source.name": Path(sys.argv[0]).name}
        values = {key: str(value) for key, value in {**who, **tags, **self.alive.tags()}.items()}
        entry = make_entry("create", name=name, experiment=self._experiment, tags=values)
        return self.writer.create(entry, number=uuid.uuid4().hex, experiment_id=self.experiment_id)

    def fail_lost_runs(self) -> list[str]:
        """Ends runs of all experiments that read RUNNING though their process is gone, as FAILED; returns their ids."""
        lost = []
        shared = store.is_own_store(self.uri, self._root)
        with store.reported(self.uri):
            experiments = [item.experiment_id for item in self.client.search_experiments(max_results=1000)]
            running = self.client.search_runs(experiments, "attributes.status = 'RUNNING'", max_results=1000)
            for listed in running:
                if not liveness.is_gone(listed.data.tags, shared_disk=shared):
                    continue
                # A process ends its run before it gives its lock back, so that what stands there now is the truth.
                run = self.client.get_run(listed.info.run_id)
                if run.info.status != "RUNNING" or not liveness.is_gone(run.data.tags, shared_disk=shared):
                    continue
                self.client.set_tag(run.info.run_id, ERROR_TAG, LOST)
                self.client.set_terminated(run.info.run_id, "FAILED", self._last_sign(run))
                lost.append(str(run.info.run_id))
        liveness.remove_stale(self._root / store.FOLDER / "alive")
        return lost

    def _end_of(self, run: Run) -> int | None:
        """The end that a resumed run keeps; None where it has none, or the store cannot say."""
        if self.writer.away:
            return None
        try:
            return run.finished_at()
        except TrackingError as error:
            self.writer.trouble(error)
            return None

    def _last_sign(self, run: Any) -> int:
        """Milliseconds of the last thing that the run logged: nobody saw its end, and "now" may be days later."""
        times = [run.info.start_time]
        for key in run.data.metrics:
            times += [point.timestamp for point in self.client.get_metric_history(run.info.run_id, key)]
        return int(min(max(times), time.time() * 1000))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user number without a name
        return "unknown"
