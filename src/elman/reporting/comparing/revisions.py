"""Reports of other times: those of a DVC experiment, a branch or a commit."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from elman.errors import ArtifactError, DataError

_KINDS = ("cells", "baselines")


def split_revision(name: str, *, root: Path) -> tuple[str, str | None] | None:
    """A revision, and the cell or baseline that is meant of it; None where `name` holds no revision.

    Args:
        name: Such as `wider:gru`, `main:lstm`, or `wider` alone.
        root: The checkout.
    """
    revision, colon, system = name.rpartition(":")
    if not colon:
        revision, system = name, ""
    return (revision, system or None) if _exists(revision, root) else None


def fetch_revision(revision: str, system: str | None, *, tasks: Sequence[str], root: Path, into: Path) -> list[Path]:
    """Copies the report folders of one system, a task each, out of the cache of DVC.

    Args:
        revision: An experiment's name, a branch, a tag or a commit.
        system: Its cell or baseline; None where it has one cell only.
        tasks: Tasks to look for.
        root: The checkout.
        into: An empty folder.

    Raises:
        DataError: The revision does not hold the system, or holds several and none is named.
        ArtifactError: Its reports are not in the cache any more.
    """
    held = {(task, kind): _listed(f"reports/{task}/{kind}", revision, root) for task in tasks for kind in _KINDS}
    cells = sorted({name for (_, kind), names in held.items() if kind == "cells" for name in names})
    wanted = system or (cells[0] if len(cells) == 1 else None)
    if wanted is None:
        if not cells:
            raise DataError(f"{revision}: has no reports of {' or '.join(tasks)}; was the pipeline run there?")
        raise DataError(f"{revision}: holds {', '.join(cells)}; name one of them, such as {revision}:{cells[0]}")
    folders = []
    for (task, kind), names in held.items():
        if wanted in names:
            folders.append(into / task)
            _get(f"reports/{task}/{kind}/{wanted}", revision, root, folders[-1])
    if not folders:
        known = sorted({name for names in held.values() for name in names})
        raise DataError(f"{revision}: has no {wanted!r}; it holds {', '.join(known) or 'no reports'}")
    return folders


def _exists(revision: str, root: Path) -> bool:
    if not revision or revision.startswith("-"):
        return False
    commit = _run(["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], root)
    if commit.returncode == 0:
        return True
    names = _run(["git", "for-each-ref", "--format=%(refname)", "refs/exps"], root).stdout.split()
    return any(name.rsplit("/", 1)[-1] == revision for name in names)


def _listed(folder: str, revision: str, root: Path) -> list[str]:
    found = _run(["dvc", "list", ".", folder, "--rev", revision], root)
    return found.stdout.split() if found.returncode == 0 else []


def _get(path: str, revision: str, root: Path, out: Path) -> None:
    done = _run(["dvc", "get", ".", path, "--rev", revision, "--out", str(out)], root)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ArtifactError(
            f"{revision}: {path} could not be read ({last}); `dvc exp apply` or `dvc repro` makes it anew"
        )


def _run(command: list[str], root: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=root, text=True, capture_output=True, check=False)
    except FileNotFoundError:
        raise DataError(f"{command[0]} is not on the PATH, so that other revisions cannot be read") from None
