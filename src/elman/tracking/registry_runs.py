"""The runs that registered packages come from."""

from pathlib import Path
from typing import Any

from elman.errors import RegistryError
from elman.packages.package import Package
from elman.tracking.runs import Run, recording
from elman.tracking.tracker import LEVEL_TAG, Tracker

_PARENT_TAG = "mlflow.parentRunId"


def check_run(client: Any, run_id: str) -> None:
    """Raises RegistryError unless the run, and the one above it, ended well: a half-trained model is never registered.

    MLflow's own errors pass: the caller names the store.
    """
    from mlflow.exceptions import MlflowException

    try:
        run = client.get_run(run_id)
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        raise RegistryError(f"the run {run_id} is not in this store; its model cannot be registered") from None
    if run.info.status != "FINISHED" or run.info.lifecycle_stage != "active":
        status = run.info.status if run.info.lifecycle_stage == "active" else "deleted"
        raise RegistryError(
            f"the run {run_id} ({run.info.run_name}) is {status}, and only of a FINISHED run is a model registered or "
            "promoted; train it again"
        )
    if parent := run.data.tags.get(_PARENT_TAG):
        check_run(client, parent)


def new_run(root: Path, *, experiment: str, package: Package) -> str:
    """A FINISHED run for a package that came from no run of this store; returns its id."""
    with Tracker.open(root=root, experiment=experiment) as tracker:
        name = f"package {package.cell} seed {package.seed}"
        tags = {LEVEL_TAG: "package", "task": package.task, "package_hash": package.hash}
        run = Run(tracker.client, tracker.uri, tracker.create(name, tags))
        with recording(run, tracker.alive):
            run.log_params({"cell": package.cell, "seed": package.seed})
        return run.run_id
