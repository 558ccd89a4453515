"""Which code a run was made with."""

import subprocess
from pathlib import Path
from typing import NamedTuple

# dvc.lock is rewritten by every stage while the pipeline runs, so it says nothing about the code.
_ASIDE = [":(top,exclude)dvc.lock", ":(top,exclude)**/dvc.lock"]


class GitState(NamedTuple):
    """The commit that is checked out, and whether tracked files differ from it; None outside a repository."""

    commit: str | None
    dirty: bool | None

    def as_tags(self) -> dict[str, str]:
        """The state as tags of a run; `mlflow.source.git.commit` is the one that the MLflow page shows."""
        if self.commit is None:
            return {"git.commit": "none"}
        return {
            "git.commit": self.commit,
            "git.dirty": str(bool(self.dirty)).lower(),
            "mlflow.source.git.commit": self.commit,
        }


def git_state(root: Path) -> GitState:
    """Asks git about the repository that holds `root`; a missing git or repository is no error."""
    commit = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    if commit is None:
        return GitState(commit=None, dirty=None)
    changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ":(top)", *_ASIDE)
    return GitState(commit=commit, dirty=None if changed is None else bool(changed))


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints, or None where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
