"""A clone of the checkout in which the pipeline runs: never a person's working copy, and only what is committed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elman.artifacts import read_json, write_text
from elman.config import Params, TokenizerConfig
from elman.data.tokenizer import METADATA_FILE
from elman.errors import ConfigError, StageError
from elman.params_text import changed_params
from elman.retraining.intake import Snapshot

INPUT = "input"  # below the clone: the snapshot, called as the input is, so that the data set keeps its name
KEPT = "kept"  # below the clone: tokenizers, by hash, so that another one is another value in params.yaml
# Of a hook or a stage that this job may have been started by: they would point git and DVC to another place.
_OF_OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX", "DVC_ROOT", "DVC_STAGE", "DVC_EXP")
_KERNELS = Path("src/elman/layers/kernels")


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """A clone of one commit for one snapshot.

    Attributes:
        folder: Where it is.
        log: What the pipeline prints.
        guard: A lock that the pipeline holds.
    """

    folder: Path

    @property
    def log(self) -> Path:
        """What the pipeline prints."""
        return self.folder.with_suffix(".log")

    @property
    def guard(self) -> Path:
        """A lock that the pipeline holds as long as it lives."""
        return self.folder.with_suffix(".guard")

    @property
    def package(self) -> Path:
        """The model package that comes out."""
        return self.folder / "package"


def committed(root: Path, name: str) -> str:
    """A file as it is committed.

    Raises:
        ConfigError: `root` is no git repository with a commit, or the file is not in it.
    """
    done = _git(root, "show", f"HEAD:./{name}")
    if done.returncode:
        raise ConfigError(
            f"{root}: retraining uses what is committed, and git has no {name} there ({done.stderr.strip()}); commit it"
        )
    return done.stdout


def workspace_of(work: Path, *, commit: str, snapshot: str) -> Workspace:
    """The workspace of a commit and a snapshot; it need not be there."""
    return Workspace(folder=work / f"{snapshot}-{commit[:12]}")


def clone(root: Path, workspace: Workspace, *, commit: str) -> None:
    """Clones the checkout, whole or not at all; a clone that is there stays, with all that was computed in it.

    Raises:
        StageError: git fails.
    """
    folder = workspace.folder
    if folder.is_dir():
        return
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    for arguments in (
        (root, "clone", "--quiet", "--no-checkout", "--", str(root), str(part)),
        (part, "checkout", "--quiet", "--detach", commit),
    ):
        done = _git(*arguments)
        if done.returncode:
            raise StageError(f"{root}: git {arguments[1]} failed: {done.stderr.strip()}", stage="workspace")
    _take_compiled(root / _KERNELS, part / _KERNELS)
    part.rename(folder)


def fill(
    workspace: Workspace, params: Params, *, snapshot: Snapshot, task: str, cell: str, labels: Path, keep: Path | None
) -> None:
    """Puts in place what the pipeline starts from: the snapshot, the label map, a tokenizer, and params.yaml.

    Args:
        workspace: The clone.
        params: As committed.
        snapshot: The input.
        task: The only task; beside it the language model that a classifier starts from.
        cell: The only cell (with the one whose parameters it has to have as many of).
        labels: The label map of the data accepted last; it need not be there.
        keep: Folder of the champion's tokenizer; None trains one.
    """
    folder = workspace.folder
    shutil.rmtree(folder / INPUT, ignore_errors=True)
    _link(snapshot.path, folder / INPUT / snapshot.path.name)
    own = folder / "data" / "prepared" / "labels.json"
    if labels.is_file() and not own.exists():
        own.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(labels, own)
    kept = None
    if keep is not None:
        kept = f"{KEPT}/{read_json(keep / METADATA_FILE)['sha256'][:16]}"
        shutil.copytree(keep, folder / kept, dirs_exist_ok=True)
    equal_to = params.experiment.equal_parameters
    first = ["language_model"] if task == "classifier" and params.classifier.pretrain == "language_model" else []
    changes: dict[str, dict[str, Any]] = {
        "dataset": {"path": f"{INPUT}/{snapshot.path.name}", "tasks": [*first, task]},
        "experiment": {"cells": list(dict.fromkeys([cell, equal_to or cell]))},
        "tokenizer": {"keep": kept},
    }
    text = committed(folder, "params.yaml")
    write_text(folder / "params.yaml", changed_params(text, changes))


def environment(workspace: Workspace, *, store: str) -> dict[str, str]:
    """What the pipeline's processes see: the clone's own code, this Python, and the checkout's tracking store."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_OTHERS)}
    return {
        **kept,
        "PATH": path,
        "PYTHONPATH": str(workspace.folder / "src"),
        "PYTHONUNBUFFERED": "1",
        "MLFLOW_TRACKING_URI": store,
    }


def same_settings(tokenizer: Path, config: TokenizerConfig) -> bool:
    """Whether a tokenizer was trained as params.yaml asks for; another wish is a reason to train one anew."""
    made: Mapping[str, Any] = read_json(tokenizer / METADATA_FILE)
    wanted = config.model_dump(exclude={"keep", "max_training_megabytes", "vocab_size"})
    return made.get("requested_vocab_size") == config.vocab_size and all(
        made.get(name) == value for name, value in wanted.items()
    )


def _take_compiled(source: Path, target: Path) -> None:
    """Takes over what numba has compiled: it goes by a file's time and size, and compiling takes half a minute."""
    for file in target.glob("*.py"):
        twin = source / file.name
        if not twin.is_file() or twin.read_bytes() != file.read_bytes():
            return  # other code: compiled anew
        stat = twin.stat()
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    for file in (source / "__pycache__").glob("*.nb[ic]"):
        (target / "__pycache__").mkdir(exist_ok=True)
        shutil.copy2(file, target / "__pycache__" / file.name)


def _link(source: Path, target: Path) -> None:
    """The snapshot without a second copy of its bytes, where the disk allows that."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if source.is_dir():
            shutil.copytree(source, target, copy_function=os.link)
        else:
            os.link(source, target)
    except (OSError, shutil.Error):
        shutil.rmtree(target.parent, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ConfigError("git is not on the PATH; retraining works in a clone of the checkout") from None
