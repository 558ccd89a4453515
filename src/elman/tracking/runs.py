"""One recorded run: what is written to it, and how it ends."""

import hashlib
import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elman.errors import TrackingError
from elman.tracking.liveness import Alive, raising_on_signals
from elman.tracking.store import reported

ERROR_TAG = "elman.error"
NON_FINITE_TAG = "non_finite"
NON_FINITE_COUNT_TAG = "non_finite_count"
CHANGED_PREFIX = "changed."

_GROUPS = ("train", "valid", "test")  # the page folds metrics by what stands before the slash
_SIGNAL_EXITS = (0, None, 129, 130, 143)  # SystemExit codes that mean "asked to stop", not "failed"
_PARAMS_A_BATCH = 100
_METRICS_A_BATCH = 1000
_LONGEST_PARAM = 6000  # characters; MLflow refuses more
_LONGEST_TAG = 5000  # characters; MLflow takes 8,000, older servers 5,000


class Run:
    """Writes to one run by its id; there is no current run anywhere.

    Args:
        client: The `MlflowClient`.
        uri: The store's address, for messages.
        run_id: The run.
    """

    def __init__(self, client: Any, uri: str, run_id: str) -> None:
        self._client = client
        self._uri = uri
        self.run_id = run_id
        self._non_finite: list[str] = []

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
        with reported(self._uri):
            if status == "RUNNING":
                self._client.update_run(self.run_id, status=status)
            else:
                self._client.set_terminated(self.run_id, status, end_time)

    def forget_error(self) -> None:
        """Takes away what an earlier process of the same run failed with."""
        with reported(self._uri):
            if ERROR_TAG in self._client.get_run(self.run_id).data.tags:
                self._client.delete_tag(self.run_id, ERROR_TAG)

    def set_tags(self, tags: Mapping[str, Any]) -> None:
        """Sets or replaces tags; a long value is cut."""
        with reported(self._uri):
            for key, value in tags.items():
                self._client.set_tag(self.run_id, key, str(value)[:_LONGEST_TAG])

    def log_params(self, params: Mapping[str, Any]) -> None:
        """Records parameters, each once.

        A value that stands already is left. Another value for the same name keeps the first one and tells the whole
        story in the tag `changed.<name>`, such as `0.1 -> 0.2`. A value longer than MLflow takes becomes a file below
        `params/`, named in its place.
        """
        from mlflow.entities import Param

        with reported(self._uri):
            run = self._client.get_run(self.run_id)
            new = {}
            for key, value in params.items():
                text = self._short(key, show_param(value))
                old = run.data.params.get(key)
                if old is None:
                    new[key] = text
                elif old != text:
                    story = run.data.tags.get(f"{CHANGED_PREFIX}{key}", old)
                    if story.split(" -> ")[-1] != text:
                        self.set_tags({f"{CHANGED_PREFIX}{key}": f"{story} -> {text}"})
            items = [Param(key, value) for key, value in new.items()]
            for start in range(0, len(items), _PARAMS_A_BATCH):
                self._client.log_batch(self.run_id, params=items[start : start + _PARAMS_A_BATCH])

    def log_metrics(self, metrics: Mapping[str, float | None], *, step: int = 0) -> None:
        """Records numbers in one request.

        `train_loss` becomes `train/loss`; a name without one of the groups train, valid and test goes to train. What
        is not finite is left out, since one NaN breaks the page: the tag `non_finite` names it and
        `non_finite_count` counts. None is left out without a word: it means "not known".
        """
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        finite, bad = [], []
        for name, value in metrics.items():
            if value is None:
                continue
            key = metric_name(name)
            if math.isfinite(value):
                finite.append(Metric(key, float(value), now, step))
            else:
                bad.append(key)
        with reported(self._uri):
            for start in range(0, len(finite), _METRICS_A_BATCH):
                self._client.log_batch(self.run_id, metrics=finite[start : start + _METRICS_A_BATCH])
        if bad:
            self._non_finite += bad
            names = ", ".join(sorted(set(self._non_finite)))
            self.set_tags({NON_FINITE_TAG: names, NON_FINITE_COUNT_TAG: len(self._non_finite)})

    def log_epoch(self, epoch: int, metrics: Mapping[str, float | None]) -> None:
        """Records an epoch's numbers; `epoch` counts from 1 and is the step that the page shows."""
        self.log_metrics(metrics, step=epoch)

    def logged_epochs(self) -> int:
        """The last epoch whose numbers stand in the store, 0 where none does."""
        with reported(self._uri):
            points = self._client.get_metric_history(self.run_id, "train/loss")
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
        with reported(self._uri):
            if path.is_dir():
                self._client.log_artifacts(self.run_id, str(path), folder)
            else:
                self._client.log_artifact(self.run_id, str(path), folder)

    def log_text(self, text: str, file: str) -> None:
        """Writes a text file into the run, such as `plan.txt`."""
        with reported(self._uri):
            self._client.log_text(self.run_id, text, file)

    def log_figure(self, figure: Any, file: str) -> None:
        """Writes a matplotlib figure into the run, such as `figures/curves.png`."""
        with reported(self._uri):
            self._client.log_figure(self.run_id, figure, file)

    def _short(self, key: str, text: str) -> str:
        if len(text) <= _LONGEST_PARAM:
            return text
        # The hash keeps two long values apart, in the name of the file and in the comparison of the two.
        file = f"params/{key}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt"
        self._client.log_text(self.run_id, text, file)
        return f"{len(text)} characters, see {file}"


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
            run.set_status("RUNNING")
            run.set_tags(alive.tags())
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
