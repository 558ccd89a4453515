"""What a name means: a package's folder, or a model that the pipeline left. Nothing here loads TensorFlow."""

from pathlib import Path
from typing import get_args

from elman.config import Task
from elman.errors import ArtifactError
from elman.packages.package import Package, is_package, open_package
from elman.using.locate import Located, locate


def find(name: str | Path, *, models: Path, task: str | None = None) -> Package | Located:
    """Finds a model and checks, of a package, every file.

    Args:
        name: A package's folder, or a name that `elman.using.locate.locate` knows.
        models: The folder with a folder for each task.
        task: "classifier" or "language_model", where only that one will do.

    Raises:
        ArtifactError: There is no such model or task, it is for the other task, or it is refused.
    """
    if task not in (None, *get_args(Task)):
        raise ArtifactError(f"task: {' or '.join(get_args(Task))}, or None where the name tells, but came {task!r}")
    if not is_package(Path(name)):
        return locate(name, models=models, task=task)
    package = open_package(Path(name))
    if task is not None and package.task != task:
        command = {"classifier": "classify", "language_model": "score"}[package.task]
        words = package.task.replace("_", " ")
        raise ArtifactError(f"{name}: this is a {words}, not a {task.replace('_', ' ')}: `elman {command}`")
    return package
