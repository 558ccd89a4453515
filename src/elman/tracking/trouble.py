"""What goes wrong with a tracking store, and what to do then."""

import errno
import re
import sqlite3
from contextlib import closing
from pathlib import Path

SQLITE = "sqlite:///"


def brief(text: str) -> str:
    r"""What the database itself said, where SQLAlchemy has put the statement and much else around it.

    Example:
        >>> brief("(raised by autoflush)\n(sqlite3.OperationalError) database or disk is full\n[SQL: INSERT ...]")
        '(sqlite3.OperationalError) database or disk is full'
        >>> brief("no route to host")
        'no route to host'
    """
    found = re.search(r"\(\w+\.\w*Error\) [^\n]+", text)
    return found.group(0) if found else text


def advice(uri: str, error: Exception) -> str:
    """What to do, by what went wrong.

    Example:
        >>> advice("sqlite:////srv/mlruns/mlflow.db", sqlite3.OperationalError("database or disk is full"))
        'The disk that holds /srv/mlruns is full: free some of it, then run the same command again'
    """
    text, file = str(error), Path(uri.removeprefix(SQLITE))
    number = getattr(error, "errno", None)
    if "malformed" in text or "not a database" in text:
        return (
            f"{file} is damaged. Put a copy of it back, or move it away to begin a new store; models and reports are "
            "not touched by that, and earlier runs are then in the damaged file only"
        )
    if "disk is full" in text or number in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk that holds {file.parent} is full: free some of it, then run the same command again"
    if "readonly database" in text or "unable to open" in text or (number and uri.startswith(SQLITE)):
        return f"{file} and its folder must be writable for this user: look at the folder's owner, rights and mount"
    if "is locked" in text:
        return f"Another program holds {file}: close what has it open, then run the same command again"
    return (
        "The tracking store cannot be used; mend it, or set MLFLOW_TRACKING_URI to another one (unset: "
        "mlruns/mlflow.db of this checkout)"
    )


def open_file(file: Path) -> sqlite3.Connection:
    """A connection that makes no file; it may write, since what a killed process left half done is undone first."""
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=rw", uri=True, timeout=20)


def check_file(uri: str) -> None:
    """Reads a little of a SQLite store, since MLflow tries a damaged one for minutes.

    Raises:
        sqlite3.Error: The file is damaged or may not be read.
    """
    file = Path(uri.removeprefix(SQLITE))
    if not uri.startswith(SQLITE) or not file.is_file():
        return
    with closing(open_file(file)) as store:
        store.execute("select count(*) from sqlite_master").fetchone()


def damage(file: Path) -> str | None:
    """What SQLite finds wrong in a whole file; None where it is sound."""
    try:
        with closing(open_file(file)) as store:
            found = store.execute("pragma quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        return f"{type(error).__name__}: {error}"
    return None if found == "ok" else str(found)
