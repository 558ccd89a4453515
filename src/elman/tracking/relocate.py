"""Mends a store whose folder was moved or copied: SQLite's file names the artifacts of runs and models by whole paths.

MLflow has no command for it. The tables are those of MLflow 3: experiments, runs, logged_models and model_versions.
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlparse

from elman.artifacts import replacing
from elman.errors import TrackingError
from elman.tracking.liveness import anyone_alive
from elman.tracking.store import FOLDER, opening, own_file
from elman.tracking.trouble import damage, open_file

_COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)


class Relocated(NamedTuple):
    """What was mended.

    Attributes:
        places: The folders that the store named instead of its own.
        changed: For each table how many paths were changed.
        backup: The file as it was before; None where nothing was changed.
    """

    places: tuple[Path, ...]
    changed: dict[str, int]
    backup: Path | None


def other_places(root: Path) -> tuple[Path, ...]:
    """The `mlruns` folders, other than this checkout's, in which its store looks for artifacts."""
    own = root.resolve() / FOLDER
    with closing(open_file(own_file(root))) as store:
        if not _columns_of(store, "experiments"):
            return ()
        locations = store.execute("select distinct artifact_location from experiments").fetchall()
    found = {place for (location,) in locations if location and (place := _place(location)) is not None}
    return tuple(sorted(found - {own}))


def relocate_store(root: Path) -> Relocated:
    """Makes the store of a checkout name the artifacts where they are now; all of it or nothing.

    The file as it was is kept beside it.

    Args:
        root: The checkout.

    Raises:
        TrackingError: There is no store, it is damaged, a job uses it, or the artifacts did not come along.
    """
    file, new = own_file(root), root.resolve() / FOLDER
    if not file.is_file():
        raise TrackingError(f"{file}: no tracking store here; run the command in the checkout")
    if wrong := damage(file):
        raise TrackingError(f"{file} is damaged ({wrong}): put a copy of it back first")
    if anyone_alive(new / "alive"):
        raise TrackingError(f"{file}: a job of this checkout is recording runs; run the command when it has ended")
    with opening(root):
        places = other_places(root)
        for old in places:
            if (old / "artifacts").is_dir() and not (new / "artifacts").is_dir():
                raise TrackingError(f"{old / 'artifacts'} did not come along: move it to {new}, then run this again")
        if not places:
            return Relocated((), {}, None)
        backup = _copy(file)
        try:
            return Relocated(places, _rewrite(file, places, new), backup)
        except sqlite3.Error as error:
            raise TrackingError(f"{file}: {error}; nothing was changed") from error


def _place(location: str) -> Path | None:
    """The `mlruns` folder that an experiment's artifacts stand in; None where they stand elsewhere.

    MLflow's own experiment "Default" says nothing: it names the folder in which the first process worked.

    Example:
        >>> _place("file:///old%20disk/mlruns/artifacts/reuters-r8-classifier").as_posix()
        '/old disk/mlruns'
        >>> _place("mlflow-artifacts:/7"), _place("/data/elsewhere/7"), _place("/old/mlruns/0")
        (None, None, None)
    """
    if location.startswith("file:"):
        location = unquote(urlparse(location).path)
    path = Path(location)
    ours = path.is_absolute() and path.parent.name == "artifacts" and path.parent.parent.name == FOLDER
    return path.parent.parent if ours else None


def _moved(value: str, old: Path, new: Path) -> str:
    """A path or address below `old`, at the same place below `new`; any other one as it is."""
    forms = ((old.as_uri(), new.as_uri()), (f"file://{old}", f"file://{new}"), (str(old), str(new)))
    for before, after in forms:
        if value == before or value.startswith(f"{before}/"):
            return after + value[len(before) :]
    return value


def _rewrite(file: Path, places: tuple[Path, ...], new: Path) -> dict[str, int]:
    """Changes all paths in one transaction; a crash leaves all of them as they were."""
    changed: dict[str, int] = {}
    with closing(sqlite3.connect(file, timeout=20, isolation_level=None)) as store:
        store.execute("begin immediate")
        for table, column in _COLUMNS:
            if column not in _columns_of(store, table):  # of another version of MLflow
                continue
            count = 0
            rows = store.execute(f"select rowid, {column} from {table} where {column} is not null").fetchall()
            for number, value in rows:
                right = value
                for old in places:
                    right = _moved(right, old, new)
                if right != value:
                    store.execute(f"update {table} set {column} = ? where rowid = ?", (right, number))
                    count += 1
            changed[table] = changed.get(table, 0) + count
        store.execute("commit")
    return changed


def _columns_of(store: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in store.execute(f"pragma table_info({table})")}


def _copy(file: Path) -> Path:
    backup = file.with_name(f"{file.name}.before-relocate-{time.strftime('%Y%m%d-%H%M%S')}")
    with replacing(backup) as temporary, closing(open_file(file)) as source, closing(open_file(temporary)) as target:
        source.backup(target)
    return backup
