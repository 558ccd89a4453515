"""Where a DVC experiment works, and what its runs are called by."""

import os
from pathlib import Path

_TEMPORARY = (".dvc", "tmp", "exps")  # below the checkout: copies in which queued experiments run


def checkout_of(script: Path) -> Path:
    """The checkout that a script in `pipelines/` belongs to.

    `dvc exp run --temp` and `--queue` run a copy of the checkout that is deleted afterwards; its runs belong into the
    store of the checkout itself.

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
    return Path(*parts)


def experiment_tags() -> dict[str, str]:
    """The tag `dvc.exp` with the name of the experiment that this process is part of; none outside of one."""
    name = os.environ.get("DVC_EXP_NAME")
    return {"dvc.exp": name} if name else {}
