"""The tracking store: where it is, how it is opened, and how its failures read."""

import fcntl
import logging
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from elman.errors import TrackingError
from elman.tracking.new_store import make_store
from elman.tracking.trouble import SQLITE, advice, brief, check_file

FOLDER = "mlruns"

# Asked for before MLflow is imported: it reads them then. A value that the user has set stays.
_QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_DISABLE_AGENT_HINT": "true",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",  # MLflow's own 7 wait minutes before a missing server is named
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",  # seconds; MLflow's own 120, four times over, would hold up a training
}
# Others than these are refused: a mistyped address would otherwise be taken for a folder's name.
_SCHEMES = ("sqlite", "http", "https", "postgresql", "mysql", "mssql")


def store_uri(root: Path) -> str:
    """`MLFLOW_TRACKING_URI` where it is set, else the SQLite file of the checkout, whatever the current folder is.

    Raises:
        TrackingError: `MLFLOW_TRACKING_URI` is no address, or depends on the current folder.
    """
    named = os.environ.get("MLFLOW_TRACKING_URI")
    if not named:
        return f"{SQLITE}{own_file(root)}"
    check_address(named)
    return named


def own_file(root: Path) -> Path:
    """The SQLite file of the checkout."""
    return root.resolve() / FOLDER / "mlflow.db"


def check_address(uri: str) -> None:
    """Refuses an address that is none, or that names another store from another folder.

    Raises:
        TrackingError: With what is allowed.
    """
    scheme, separator, rest = uri.partition("://")
    if re.search(r"[\s\x00-\x1f]", uri) or not separator or scheme.split("+")[0] not in _SCHEMES:
        raise TrackingError(
            f"MLFLOW_TRACKING_URI: {shown(uri)!r} is no address of a tracking store; allowed are "
            f"{', '.join(f'{name}://' for name in _SCHEMES)}, without spaces"
        )
    if scheme.startswith("http") and not urlparse(uri).hostname:
        raise TrackingError(f"MLFLOW_TRACKING_URI: {shown(uri)!r} names no server")
    if scheme == "sqlite" and not rest.startswith("//"):
        raise TrackingError(
            f"MLFLOW_TRACKING_URI: {uri!r} is another file from every folder; a whole path has four slashes, such as "
            "sqlite:////srv/elman/mlruns/mlflow.db"
        )


def spool_name(uri: str, root: Path) -> str:
    """What a spool's file calls the store, so that it is written out there and nowhere else.

    A checkout's own store keeps its name when the checkout is moved.
    """
    return "own" if is_own_store(uri, root) else shown(uri)


def is_own_store(uri: str, root: Path) -> bool:
    """Whether the store is the SQLite file of this checkout."""
    return uri == f"{SQLITE}{own_file(root)}"


def open_client(uri: str) -> Any:
    """An `MlflowClient` on the store; a new SQLite store gets its tables.

    Raises:
        TrackingError: The store cannot be reached or is of a kind that MLflow refuses.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    with reported(uri), warnings.catch_warnings():
        check_file(uri)
        # MLflow's own table definitions use what SQLAlchemy 2.1 calls outdated; nothing here can change that.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        from mlflow.tracking import MlflowClient

        # MLflow reads the level when it is imported, which someone else may have done before.
        logging.getLogger("mlflow").setLevel(os.environ["MLFLOW_LOGGING_LEVEL"])
        # It prints a traceback for what becomes one line here.
        logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
        if uri.startswith(SQLITE) and "?" not in uri:
            make_store(Path(uri.removeprefix(SQLITE)), lambda file: MlflowClient(f"{SQLITE}{file}"))
        return MlflowClient(uri)


def open_experiment(client: Any, *, name: str, uri: str, root: Path, tags: Mapping[str, str]) -> str:
    """The experiment's id; the experiment and its tags are made where they are missing.

    Raises:
        TrackingError: The experiment was deleted, or the checkout was moved and its artifacts would land elsewhere.
    """
    own = is_own_store(uri, root)
    artifacts = root.resolve() / FOLDER / "artifacts"
    with reported(uri):
        experiment = client.get_experiment_by_name(name)
        if experiment is None:
            folder = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
            location = (artifacts / folder).as_uri() if own else None
            return str(client.create_experiment(name, artifact_location=location, tags=dict(tags)))
    if experiment.lifecycle_stage != "active":
        raise TrackingError(
            f"{shown(uri)}: the experiment {name!r} (id {experiment.experiment_id}) was deleted; bring it back with "
            f"`mlflow experiments restore -x {experiment.experiment_id}`, or remove it for good with `mlflow gc`"
        )
    place = Path(unquote(urlparse(experiment.artifact_location).path))
    if own and artifacts not in place.parents:
        raise TrackingError(
            f"{shown(uri)}: the store keeps the artifacts of {name!r} in {place}, which is not below {artifacts}: the "
            "checkout was moved or copied. Run `elman relocate` here, which makes the store name the new place"
        )
    with reported(uri):
        for key in tags.keys() - experiment.tags.keys():  # what a person changed stays changed
            client.set_experiment_tag(experiment.experiment_id, key, tags[key])
    return str(experiment.experiment_id)


@contextmanager
def opening(root: Path) -> Iterator[None]:
    """One process at a time: two that make the same tables at once would both fail."""
    folder = root.resolve() / FOLDER
    with reported(f"{SQLITE}{own_file(root)}"):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("w", encoding="utf-8")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def reported(uri: str) -> Iterator[None]:
    """Names the store in whatever goes wrong with it."""
    try:
        yield
    except TrackingError:
        raise
    except Exception as error:
        # MLflow, SQLAlchemy and requests have no common base, and which one speaks depends on the store.
        text = brief(str(error)).replace(uri, shown(uri))
        raise TrackingError(f"{shown(uri)}: {type(error).__name__}: {text}\n{advice(uri, error)}") from error


def shown(uri: str) -> str:
    """The address without user name and password, for messages."""
    return re.sub(r"//[^/@]*@", "//", uri)
