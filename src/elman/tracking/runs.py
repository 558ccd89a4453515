"""One recorded run: what is written to it, and how it ends."""

import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from elman.errors import TrackingError
from elman.tracking.entries import ERROR_TAG, make_entry
from elman.tracking.liveness import Alive, raising_on_signals
from elman.tracking.store import reported
from elman.tracking.writer import Writer

NON_FINITE_TAG = "non_finite"
NON_FINITE_COUNT_TAG = "non_finite_count"

_GROUPS = ("train", "valid", "test")  # the page folds metrics by what stands before the slash
_SIGNAL_EXITS = (0, None, 129, 130, 143)  # SystemExit codes that mean "asked to stop", not "failed"
_LONGEST_TAG = 5000  # characters; MLflow takes 8,000, older servers 5,000


class Run:
    """Writes to one run by its id; there is no current run anywhere.

    Args:
        client: The `MlflowClient`.
        uri: The store's address, for messages.
        run_id: The run.
        writer: The way to the store; a tracker's own goes on while the store is away. Without one that is an error.
    """

    def __init__(self, client: Any, uri: str, run_id: str, *, writer: Writer | None = None) -> None:
        self._client = client
        self._uri = uri
        self._run_id = run_id
        self._writer = writer or Writer(client, uri)
        self._non_finite: list[str] = []
        self._once = False  # whether what has a step may stand in the store already

    @property
    def run_id(self) -> str:
        """The store's name of the run; one of our own where it was begun while the store was away."""
        return self._writer.name(self._run_id)

    @run_id.setter
    def run_id(self, value: str) -> None:
        self._run_id = value

    @property
    def tags(self) -> dict[str, str]:
        """The tags that stand in the store now."""
        with reported(self._uri):
            return dict(self._client.get_run(self.run_id).data.tags)

    def finished_at(self) -> int | None:
        """Milliseconds of the end of a FINISHED run, else None."""
        with reported(self._uri):
            info = self._client.get_run(self.run_id).info
        return info.end_time if info.status == "FINISHED" else None

    def set_status(self, status: str, *, end_time: int | None = None) -> None:
        """RUNNING, FINISHED, FAILED or KILLED; `recording` is what calls it."""
        self._write("status", status=status, end_time=end_time)

    def forget_error(self) -> None:
        """Takes away what an earlier process of the same run failed with."""
        self._write("untag", tag=ERROR_TAG)

    def set_tags(self, tags: Mapping[str, Any]) -> None:
        """Sets or replaces tags; a long value is cut."""
        self._write("tags", tags={key: str(value)[:_LONGEST_TAG] for key, value in tags.items()})

    def log_params(self, params: Mapping[str, Any]) -> None:
        """Records parameters, each once.

        A value that stands already is left. Another value for the same name keeps the first one and tells the whole
        story in the tag `changed.<name>`, such as `0.1 -> 0.2`. A value longer than MLflow takes becomes a file below
        `params/`, named in its place.
        """
        self._write("params", params={key: show_param(value) for key, value in params.items()})

    def log_metrics(self, metrics: Mapping[str, float | None], *, step: int = 0) -> None:
        """Records numbers in one request.

        `train_loss` becomes `train/loss`; a name without one of the groups train, valid and test goes to train. What
        is not finite is left out, since one NaN breaks the page: the tag `non_finite` names it and
        `non_finite_count` counts. None is left out without a word: it means "not known".
        """
        finite, bad = {}, []
        for name, value in metrics.items():
            if value is None:
                continue
            key = metric_name(name)
            if math.isfinite(value):
                finite[key] = float(value)
            else:
                bad.append(key)
        self._write("metrics", metrics=finite, step=step, **({"once": True} if self._once and step else {}))
        if bad:
            self._non_finite += bad
            names = ", ".join(sorted(set(self._non_finite)))
            self.set_tags({NON_FINITE_TAG: names, NON_FINITE_COUNT_TAG: len(self._non_finite)})

    def log_epoch(self, epoch: int, metrics: Mapping[str, float | None]) -> None:
        """Records an epoch's numbers; `epoch` counts from 1 and is the step that the page shows."""
        self.log_metrics(metrics, step=epoch)

    def logged_epochs(self) -> int:
        """The last epoch whose numbers stand in the store, 0 where none does.

        While the store is away it is 0 as well, and epochs that turn out to stand there are not written again.
        """
        try:
            with reported(self._uri):
                points = self._client.get_metric_history(self.run_id, "train/loss")
        except TrackingError as error:
            self._writer.trouble(error)
            self._once = True
            return 0
        return max((point.step for point in points), default=0)

    def log_measures(self, split: str, measures: Mapping[str, Mapping[str, Any]]) -> None:
        """Records measures over seeds as `<split>/<measure>`, with `_low` and `_high` where there is an interval.

        A count that is the same for all seeds, such as the number of tokens, has none.

        Args:
            split: train, valid or test.
            measures: For each measure `mean`, and `low` and `high` or None, as in a cell's metrics.json.
        """
        flat: dict[str, float | None] = {}
        for name, values in measures.items():
            flat[f"{split}/{name}"] = values["mean"]
            if values.get("low") != values.get("high"):
                flat[f"{split}/{name}_low"] = values["low"]
                flat[f"{split}/{name}_high"] = values["high"]
        self.log_metrics(flat)

    def log_artifact(self, path: Path, folder: str | None = None) -> None:
        """Copies a file, or all of a folder, into the run."""
        if not path.exists():
            raise TrackingError(f"{path}: no such file, so that the run {self.run_id} cannot keep it")
        self._write("artifact", path=str(path), folder=folder)

    def log_text(self, text: str, file: str) -> None:
        """Writes a text file into the run, such as `plan.txt`."""
        with self._new_file(file) as path:
            path.write_text(text, encoding="utf-8")

    def log_figure(self, figure: Any, file: str) -> None:
        """Writes a matplotlib figure into the run, such as `figures/curves.png`."""
        with self._new_file(file) as path:
            figure.savefig(path)

    @contextmanager
    def _new_file(self, file: str) -> Iterator[Path]:
        """A path to write to; what stands there afterwards goes into the run as `file`."""
        name = PurePosixPath(file)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name.name
            yield path
            self.log_artifact(path, None if name.parent == PurePosixPath() else str(name.parent))

    def _write(self, kind: str, **values: Any) -> None:
        self._writer.write(self.run_id, make_entry(kind, **values))


def metric_name(name: str) -> str:
    """The name with its group.

    Example:
        >>> metric_name("valid_loss"), metric_name("learning_rate"), metric_name("test/accuracy_low")
        ('valid/loss', 'train/learning_rate', 'test/accuracy_low')
    """
    if "/" in name:
        return name
    for group in _GROUPS:
        if name.startswith(f"{group}_"):
            return f"{group}/{name.removeprefix(f'{group}_')}"
    return f"train/{name}"


def show_param(value: Any) -> str:
    """A value as params.yaml writes it.

    Example:
        >>> show_param(None), show_param(True), show_param((1, 2)), show_param(0.003)
        ('null', 'true', '[1, 2]', '0.003')
    """
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


@contextmanager
def recording(run: Run, alive: Alive, *, end_time: int | None = None) -> Iterator[None]:
    """Keeps a run RUNNING inside the block and ends it as the block ends.

    FINISHED after the last line, KILLED after Ctrl-C, SIGTERM or SIGHUP, FAILED after any other exception, whose text
    the tag `elman.error` keeps.

    Args:
        run: The run.
        alive: This process' lock.
        end_time: Milliseconds; the end that a resumed run keeps, so that its duration stays that of training.
    """
    try:
        with raising_on_signals():
            run.set_tags(alive.tags())  # first, or a job that starts now would take the run for a lost one
            run.set_status("RUNNING")
            run.forget_error()
            yield
    except BaseException as error:
        try:
            if _was_asked_to_stop(error):
                run.set_status("KILLED")
            else:
                run.set_tags({ERROR_TAG: f"{type(error).__name__}: {error}"})
                run.set_status("FAILED")
        except TrackingError as second:
            error.add_note(f"The run {run.run_id} could not be closed either: {second}")
        raise
    run.set_status("FINISHED", end_time=end_time)


def _was_asked_to_stop(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemExit) and error.code in _SIGNAL_EXITS)
