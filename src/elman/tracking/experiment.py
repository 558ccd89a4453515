"""Where a DVC experiment or a retraining works, and what its runs are called by."""

import os
from pathlib import Path

_TEMPORARY = (".dvc", "tmp", "exps")  # below the checkout: copies in which queued experiments run
_RETRAINING = "retraining"  # below the checkout: where `elman retrain` keeps its clones


def checkout_of(script: Path) -> Path:
    """The checkout that a script in `pipelines/` belongs to.

    `dvc exp run --temp` and `--queue`, and `elman retrain`, run a copy of the checkout that is deleted afterwards; its
    runs belong into the store of the checkout itself.

    Args:
        script: The script's path.

    Example:
        >>> checkout_of(Path("/home/ada/project/.dvc/tmp/exps/standalone/tmpx1/pipelines/train.py")).as_posix()
        '/home/ada/project'
        >>> checkout_of(Path("/home/ada/project/pipelines/train.py")).as_posix()
        '/home/ada/project'
    """
    parts = script.resolve().parents[1].parts
    for start in range(len(parts) - len(_TEMPORARY)):
        if parts[start : start + len(_TEMPORARY)] == _TEMPORARY:
            return Path(*parts[:start])
    return _retrained(script) or Path(*parts)


def code_of(script: Path) -> Path:
    """The folder whose commit names the code that a script runs with.

    That of a retraining is its clone, since a person may commit to the checkout meanwhile. That of an experiment is the
    checkout, which it started from.

    Args:
        script: The script's path.
    """
    return script.resolve().parents[1] if _retrained(script) else checkout_of(script)


def _retrained(script: Path) -> Path | None:
    """The checkout of a retraining's clone; None for other scripts."""
    clone = script.resolve().parents[1]
    if len(clone.parts) < 5 or (clone.parts[-4], clone.parts[-2]) != (_RETRAINING, "work"):
        return None
    root = clone.parents[3]
    return root if (root / _RETRAINING / "lock").is_file() else None


def experiment_tags() -> dict[str, str]:
    """The tag `dvc.exp` with the name of the experiment that this process is part of; none outside of one."""
    name = os.environ.get("DVC_EXP_NAME")
    return {"dvc.exp": name} if name else {}
