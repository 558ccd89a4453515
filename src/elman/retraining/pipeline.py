"""The pipeline in a workspace: DVC decides what runs, and a stage that fails is named."""

import re
import sys
from pathlib import Path

from elman.dvc_files import mend_dvc_files
from elman.errors import StageError
from elman.retraining.process import run_logged
from elman.retraining.workspace import Workspace, environment

_LAST_LINES = 15


def repro(workspace: Workspace, target: str, *, store: str) -> None:
    """`dvc repro` of one stage and all that it needs; stages that are done and unchanged do not run again.

    Args:
        workspace: A filled clone.
        target: The stage, such as evaluate@classifier-gru.
        store: Address of the tracking store that the runs go to.

    Raises:
        StageError: A stage failed; it carries the stage's name, and 30 or 50 where the stage ended with these.
    """
    mend_dvc_files(workspace.folder)  # of a night that was killed
    begin = workspace.log.stat().st_size if workspace.log.exists() else 0
    code = run_logged(
        [sys.executable, "-m", "dvc", "repro", target],
        cwd=workspace.folder,
        env=environment(workspace, store=store),
        log=workspace.log,
        guard=workspace.guard,
    )
    if code:
        raise failure(_text_from(workspace.log, begin), code=code, target=target, log=workspace.log)


def failure(text: str, *, code: int, target: str, log: Path) -> StageError:
    r"""What the log says of a run that failed.

    Args:
        text: What the run printed.
        code: What DVC ended with.
        target: The stage that was asked for.
        log: Named in the message.

    Example:
        >>> text = "Running stage 'prepare':\n> python x.py\nERROR: failed to run: python x.py, exited with 30"
        >>> error = failure(text, code=1, target="evaluate@classifier-gru", log=Path("a.log"))
        >>> error.stage, error.exit_code
        ('prepare', 30)
    """
    running = re.findall(r"^Running stage '(.+)':", text, flags=re.MULTILINE)
    exits = re.findall(r"exited with (-?\d+)", text)
    stage = running[-1] if running and exits else f"dvc repro {target}"
    own = int(exits[-1]) if exits else code
    shown = "\n".join(text.strip().splitlines()[-_LAST_LINES:])
    return StageError(
        f"stage {stage} failed with exit code {own}; the whole log is {log}. Its last lines:\n{shown}",
        stage=stage,
        exit_code=own if own in (30, 50) else 40,
    )


def _text_from(log: Path, begin: int) -> str:
    with log.open("rb") as file:
        file.seek(begin)
        return file.read().decode("utf-8", "replace")
