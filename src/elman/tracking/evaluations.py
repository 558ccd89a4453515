"""The evaluation that a run keeps among its artifacts, back on disk."""

from pathlib import Path

from elman.errors import ArtifactError, TrackingError
from elman.tracking import store
from elman.tracking.entries import real_run_id

FOLDER = "evaluation"


def fetch_evaluation(run_id: str, *, root: Path, into: Path) -> tuple[Path, int | None]:
    """Copies a run's `evaluation` folder; for the run of one seed that of the run above it, and the seed.

    Args:
        run_id: A parent's or a seed's run.
        root: The checkout whose store is asked, where MLFLOW_TRACKING_URI names no other.
        into: A folder to copy into.

    Returns:
        The copy, and the seed that the run stands for; None for a parent.

    Raises:
        TrackingError: The store cannot be reached or has no such run.
        ArtifactError: The run has no scores.
    """
    uri = store.store_uri(root)
    if store.is_own_store(uri, root) and not (root.resolve() / store.FOLDER / "mlflow.db").is_file():
        raise TrackingError(f"{store.shown(uri)}: no tracking store here, so that {run_id} cannot be looked up")
    client = store.open_client(uri)
    with store.reported(uri):
        run_id = real_run_id(client, run_id)
        tags = client.get_run(run_id).data.tags
        parent = tags.get("mlflow.parentRunId")
        holder = parent or run_id
        files = {item.path for item in client.list_artifacts(holder, FOLDER)}
    if f"{FOLDER}/scores.parquet" not in files:
        raise ArtifactError(f"the run {run_id} has no scores: {FOLDER}/scores.parquet is not among its artifacts")
    with store.reported(uri):
        folder = Path(client.download_artifacts(holder, FOLDER, str(into)))
    return folder, int(tags["seed"]) if parent and "seed" in tags else None
