"""Decisions about champions as runs, in an experiment of their own, so that comparisons of cells stay as they are."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from elman.tracking import store
from elman.tracking.liveness import Alive
from elman.tracking.runs import Run, recording
from elman.tracking.tracker import LEVEL_TAG

LEVEL = "decision"

_LONGEST_TAG = 5000  # characters; MLflow takes 8,000, older servers 5,000

_EXPERIMENT_NOTE = """\
One run for each decision of `elman retrain` and `elman rollback` (`elman.level` = decision). The tag `result` says \
what was decided, `reasons` says why, and `decision.json` among the artifacts has every figure that it rests on.
"""


def decisions_name(registered: str) -> str:
    """The experiment's name.

    Example:
        >>> decisions_name("reuters-r8 classifier")
        'reuters-r8 classifier: decisions'
    """
    return f"{registered}: decisions"


@contextmanager
def decision_run(
    root: Path, registered: str, *, title: str, tags: Mapping[str, Any], params: Mapping[str, Any]
) -> Iterator[Run]:
    """The run of a decision: open while it is carried out, FAILED where that fails.

    Args:
        root: The checkout.
        registered: What the registry calls the models.
        title: The run's name.
        tags: result, reasons and what the decision is about.
        params: The rule that was applied.

    Raises:
        TrackingError: The store cannot be reached or refuses.
    """
    uri = store.store_uri(root)
    with store.opening(root):
        client = store.open_client(uri)
        note = {"mlflow.note.content": _EXPERIMENT_NOTE}
        name = decisions_name(registered)
        experiment = store.open_experiment(client, name=name, uri=uri, root=root, tags=note)
    with closing(Alive(root.resolve() / store.FOLDER / "alive")) as alive:
        values = {key: str(value)[:_LONGEST_TAG] for key, value in {**tags, **alive.tags(), LEVEL_TAG: LEVEL}.items()}
        with store.reported(uri):
            run_id = client.create_run(experiment, run_name=title, tags=values).info.run_id
        run = Run(client, uri, run_id)
        with recording(run, alive):
            run.log_params(params)
            yield run


def registry_is_there(root: Path, registered: str) -> bool:
    """Whether store and registered model exist: to open them would make them.

    Raises:
        TrackingError: The store cannot be reached.
    """
    from mlflow.exceptions import MlflowException

    uri = store.store_uri(root)
    if store.is_own_store(uri, root) and not (root.resolve() / store.FOLDER / "mlflow.db").is_file():
        return False
    client = store.open_client(uri)
    with store.reported(uri):
        try:
            client.get_registered_model(registered)
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return False
            raise
    return True


def forget_training(root: Path, run_id: str) -> None:
    """Deletes the run of a rejected model, those of the cell and its other seeds, and their files in our own store.

    MLflow keeps deleted runs in its table until `mlflow gc`.

    Args:
        root: The checkout.
        run_id: The run of one seed.

    Raises:
        TrackingError: The store cannot be reached.
    """
    uri = store.store_uri(root)
    client = store.open_client(uri)
    own = root.resolve() / store.FOLDER
    with store.reported(uri):
        run = client.get_run(run_id)
        parent = run.data.tags.get("mlflow.parentRunId", run_id)
        query = f"tags.`mlflow.parentRunId` = '{parent}'"
        children = client.search_runs([run.info.experiment_id], query, max_results=1000)
        for one in (client.get_run(parent), *children):
            if one.info.lifecycle_stage != "active":
                continue
            client.delete_run(one.info.run_id)
            folder = Path(unquote(urlparse(one.info.artifact_uri).path))
            if own in folder.parents:
                shutil.rmtree(folder, ignore_errors=True)
