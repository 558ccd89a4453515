"""What is recorded in a run, as plain entries: written to the store at once, or kept on disk and written later.

An entry carries its own time: a metric that is sent twice is one point, and a run that is closed late ended when it
ended. Each kind of entry can be written twice and stands there once.
"""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Entry = dict[str, Any]

CHANGED_PREFIX = "changed."
ERROR_TAG = "elman.error"
LOST = "the process ended without a word; a later job saw it"
# Names the run that an entry "create" made. MLflow's page hides tags that begin so.
LOCAL_ID_TAG = "mlflow.elman.local_id"

_LOCAL = "local-"
_PARAMS_A_BATCH = 100
_METRICS_A_BATCH = 1000
_LONGEST_PARAM = 6000  # characters; MLflow refuses more


def make_entry(kind: str, **values: Any) -> Entry:
    """An entry of now.

    Args:
        kind: create, status, tags, untag, params, metrics or artifact.
        values: What the kind needs; they must be JSON.
    """
    return {"kind": kind, "time": time.time_ns(), **values}


def is_local(run_id: str) -> bool:
    """Whether a run's name was given here, while the store could not give one."""
    return run_id.startswith(_LOCAL)


def local_id(number: str) -> str:
    """The name of a run that the store has not made yet."""
    return f"{_LOCAL}{number}"


def milliseconds(entry: Entry) -> int:
    """The entry's time as MLflow counts it."""
    return int(entry["time"] // 1_000_000)


def find_run(client: Any, local: str) -> str | None:
    """The run that was made for a local name, if it was made."""
    experiments = [item.experiment_id for item in client.search_experiments(max_results=1000)]
    found = client.search_runs(experiments, f"tags.`{LOCAL_ID_TAG}` = '{local}'", max_results=1)
    return str(found[0].info.run_id) if found else None


def real_run_id(client: Any, run_id: str) -> str:
    """The store's name of a run that run.json names; one that was begun while the store was away is looked for."""
    return (find_run(client, run_id) or run_id) if is_local(run_id) else run_id


def create_run(client: Any, entry: Entry, *, experiment_id: str) -> str:
    """Makes the run of an entry "create" and returns its id."""
    made = client.create_run(
        experiment_id, start_time=milliseconds(entry), tags=dict(entry["tags"]), run_name=entry["name"]
    )
    return str(made.info.run_id)


def write_entry(client: Any, run_id: str, entry: Entry) -> None:
    """Writes one entry of a run that exists to the store."""
    _WRITERS[entry["kind"]](client, run_id, entry)


def _status(client: Any, run_id: str, entry: Entry) -> None:
    if entry["status"] == "RUNNING":
        client.update_run(run_id, status="RUNNING")
        return
    if client.get_run(run_id).data.tags.get(ERROR_TAG) == LOST:  # somebody closed it who could not know better
        client.delete_tag(run_id, ERROR_TAG)
    client.set_terminated(run_id, entry["status"], entry.get("end_time") or milliseconds(entry))


def _tags(client: Any, run_id: str, entry: Entry) -> None:
    for key, value in entry["tags"].items():
        client.set_tag(run_id, key, value)


def _untag(client: Any, run_id: str, entry: Entry) -> None:
    if entry["tag"] in client.get_run(run_id).data.tags:
        client.delete_tag(run_id, entry["tag"])


def _params(client: Any, run_id: str, entry: Entry) -> None:
    from mlflow.entities import Param

    run = client.get_run(run_id)
    new = {}
    for key, value in entry["params"].items():
        text = _short(client, run_id, key, value)
        old = run.data.params.get(key)
        if old is None:
            new[key] = text
        elif old != text:
            story = run.data.tags.get(f"{CHANGED_PREFIX}{key}", old)
            if story.split(" -> ")[-1] != text:
                client.set_tag(run_id, f"{CHANGED_PREFIX}{key}", f"{story} -> {text}"[:5000])
    items = [Param(key, value) for key, value in new.items()]
    for start in range(0, len(items), _PARAMS_A_BATCH):
        client.log_batch(run_id, params=items[start : start + _PARAMS_A_BATCH])


def _metrics(client: Any, run_id: str, entry: Entry) -> None:
    from mlflow.entities import Metric

    step, found = entry["step"], entry["metrics"]
    if entry.get("once"):
        found = {key: value for key, value in found.items() if not _stands(client, run_id, key, step)}
    points = [Metric(key, value, milliseconds(entry), step) for key, value in found.items()]
    for start in range(0, len(points), _METRICS_A_BATCH):
        client.log_batch(run_id, metrics=points[start : start + _METRICS_A_BATCH])


def _stands(client: Any, run_id: str, key: str, step: int) -> bool:
    return any(point.step == step for point in client.get_metric_history(run_id, key))


def _artifact(client: Any, run_id: str, entry: Entry) -> None:
    path = Path(entry.get("copy") or entry["path"])
    if path.is_dir():
        client.log_artifacts(run_id, str(path), entry["folder"])
    else:
        client.log_artifact(run_id, str(path), entry["folder"])


def _short(client: Any, run_id: str, key: str, text: str) -> str:
    if len(text) <= _LONGEST_PARAM:
        return text
    # The hash keeps two long values apart, in the name of the file and in the comparison of the two.
    file = f"params/{key}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt"
    client.log_text(run_id, text, file)
    return f"{len(text)} characters, see {file}"


_WRITERS: dict[str, Callable[[Any, str, Entry], None]] = {
    "status": _status,
    "tags": _tags,
    "untag": _untag,
    "params": _params,
    "metrics": _metrics,
    "artifact": _artifact,
}
