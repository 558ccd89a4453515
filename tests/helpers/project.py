"""A copy of this project with a small data set of its own, for tests that run the real pipeline."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
COPIED = (
    "pipelines",
    "src",
    "data/dvc.yaml",
    "dvc.yaml",
    "params.yaml",
    ".dvc/config",
    ".dvc/.gitignore",
    ".dvcignore",
    ".gitignore",
)

SMALL: dict[str, Any] = {
    "dataset": {"path": "reviews.csv", "label_column": "label"},
    "tokenizer": {"vocab_size": 40},
    "experiment": {"cells": ["gru"], "seeds": [1, 2]},
    "classifier": {"embedding_dim": 8, "units": 8, "epochs": 2, "batch_size": 8},
    "language_model": {"embedding_dim": 8, "units": 8, "epochs": 2, "batch_size": 8, "window_length": 8},
}


class Project:
    """A working copy in a folder of its own, with git and DVC set up."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in COPIED:
            source, target = ROOT / name, root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
            else:
                shutil.copy(source, target)
        # What numba has compiled here is good for the copy: to compile it anew takes half a minute a project.
        kernels = "src/elman/layers/kernels/__pycache__"
        for file in (ROOT / kernels).glob("*.nb[ic]"):
            (root / kernels).mkdir(exist_ok=True)
            shutil.copy2(file, root / kernels / file.name)
        write_reviews(root / "reviews.csv")
        self.change_params(SMALL)
        for command in (["git", "init", "-q"], ["git", "add", "."], ["git", "commit", "-qm", "start"]):
            self.run(command)

    def environment(self) -> dict[str, str]:
        """Ours, with this copy's package first and nobody's tracking address."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        names = {
            f"GIT_{who}_{what}": "test@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
        return {**kept, **names, "PATH": path, "PYTHONPATH": str(self.root / "src")}

    def run(self, command: list[str], *, succeeds: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a command in the copy; its standard error follows its standard output."""
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert (done.returncode == 0) == succeeds, done.stdout
        return done

    @contextmanager
    def started(self, command: list[str]) -> Iterator[subprocess.Popen[str]]:
        """A command that goes on inside the block and is killed, with all that it started, at its end."""
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self.environment(),
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def repro(self, *arguments: str, succeeds: bool = True) -> tuple[list[str], str]:
        """`dvc repro`: the stages that ran, in order, and all that was printed."""
        text = self.run(["dvc", "repro", *arguments], succeeds=succeeds).stdout
        ran = [line.split("'")[1] for line in text.splitlines() if line.startswith("Running stage '")]
        return ran, text

    def change_params(self, changes: dict[str, Any]) -> None:
        """Changes keys of sections in params.yaml."""
        yaml = YAML()
        data = yaml.load((self.root / "params.yaml").read_text())
        for section, values in changes.items():
            data[section].update(values)
        with (self.root / "params.yaml").open("w") as stream:
            yaml.dump(data, stream)


def runs(project: Project) -> list[tuple[str, str]]:
    """Name and status of all runs in the tracking store, in the order in which they began."""
    with sqlite3.connect(project.root / "mlruns" / "mlflow.db") as store:
        return store.execute("select name, status from runs order by start_time").fetchall()


def write_reviews(path: Path, *, rows: int = 150) -> None:
    """Short reviews whose words tell their label."""
    chooser = random.Random(5)
    words = {"good": ["bright", "warm", "splendid", "kind"], "bad": ["dull", "cold", "dreadful", "mean"]}
    shared = ["film", "play", "song", "book", "with", "scene", "and", "voice"]
    lines = ["text,label"]
    for number in range(rows):
        label = chooser.choice(["good", "bad"])
        text = [chooser.choice(words[label] + shared) for _ in range(chooser.randint(4, 12))]
        lines.append(f"{' '.join(text)} number {number},{label}")
    path.write_text("\n".join(lines) + "\n")
