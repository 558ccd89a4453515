"""A checkout with data of its own, and tools that train nothing.

A model is a number: the share that a classifier gets right; of a language model, 1.5 minus its bits a byte.
"""

import json
import math
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elman.artifacts import TableWriter, read_table, sha256_file, write_json
from elman.config import read_params
from elman.data.encoding import encode_splits
from elman.data.tokenizer_training import train_tokenizer
from elman.errors import RegistryError
from elman.params_text import changed_params
from elman.retraining import drifting, job, judging, workspace
from elman.retraining.job import retrain
from elman.retraining.night import Options, Tools
from elman.retraining.outcome import Outcome
from elman.retraining.places import Places
from elman.retraining.scoring import SCHEMA
from elman.tracking.registry import CHAMPION, PREVIOUS, Version
from tests.helpers.stage_deps import ROOT

WORDS = {"good": ["bright", "warm", "splendid", "kind"], "bad": ["dull", "cold", "dreadful", "mean"]}
SHARED = ["film", "play", "song", "book", "with", "scene", "and", "voice"]


def rows(number: int, *, seed: int) -> list[str]:
    """Lines `text,label`; other seeds give other texts."""
    chooser = random.Random(seed)
    lines = []
    for _ in range(number):
        label = chooser.choice(["good", "bad"])
        text = [chooser.choice(WORDS[label] + SHARED) for _ in range(chooser.randint(4, 12))]
        lines.append(f"{' '.join(text)} number {chooser.randrange(10**6):06},{label}")
    return lines


_read_params = cache(read_params)


def _changed_params(text: str, changes: dict[str, Any]) -> str:
    return _changed(text, json.dumps(changes))


@cache
def _changed(text: str, changes: str) -> str:
    return changed_params(text, json.loads(changes))


class FakeRegistry:
    """Versions in a folder, aliases in a dict."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: dict[int, Version] = {}
        self.aliases: dict[str, int] = {}
        self.clock = lambda: datetime.now(UTC)
        self.moved_by_another: int | None = None

    def add(self, package: Path, *, run_id: str | None, tags: dict[str, str]) -> int:
        number = max(self.found, default=0) + 1
        shutil.copytree(package, self.folder / str(number))
        digest = sha256_file(package / "accuracy.txt")
        self.found[number] = Version(
            number=number, run_id=f"{run_id}-{number}", tags=dict(tags), created=self.clock(), package_hash=digest
        )
        return number

    def version(self, name: str | int) -> Version | None:
        return self.found.get(self.aliases.get(str(name), name if isinstance(name, int) else -1))

    def versions(self) -> list[Version]:
        return sorted(self.found.values(), key=lambda version: -version.number)

    def fetch(self, name: str | int, into: Path) -> Path:
        number = self.version(name).number
        return Path(shutil.copytree(self.folder / str(number), into / f"version-{number}", dirs_exist_ok=True))

    def promote(self, number: int, *, expected: int | None) -> None:
        if self.moved_by_another is not None:
            self.aliases[CHAMPION] = self.moved_by_another
        if self.aliases.get(CHAMPION) != expected:
            raise RegistryError("somebody else moved it meanwhile")
        if expected is not None:
            self.aliases[PREVIOUS] = expected
        self.aliases[CHAMPION] = number

    def rollback(self) -> Version:
        if PREVIOUS not in self.aliases:
            raise RegistryError("there is no version before the champion to bring back")
        self.aliases[CHAMPION] = self.aliases.pop(PREVIOUS)
        return self.version(CHAMPION)

    def delete(self, number: int) -> None:
        assert number not in self.aliases.values()
        del self.found[number]
        shutil.rmtree(self.folder / str(number))


class Checkout:
    """A git repository with params.yaml and reviews.csv, and what a run needs to work on it.

    Attributes:
        next_accuracy: Of the model that the next training makes.
        trainings: Names of the workspaces in which the pipeline ran.
        decisions: Results that were recorded.
        fail: Raised by the pipeline.
    """

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, number: int = 600, task: str = "classifier"
    ) -> None:
        self.task = task
        self.root = folder / "checkout"
        self.root.mkdir()
        self.data = self.root / "reviews.csv"
        self.data.write_text("\n".join(["text,label", *rows(number, seed=1)]) + "\n")
        self.write_params(
            dataset={"path": "reviews.csv", "tasks": [task], "test_fraction": 0.3},
            experiment={"cells": ["gru"], "seeds": [1]},
            tokenizer={"vocab_size": 60},
            retraining={"settle_seconds": 0, "margin": 0.05},
        )
        (self.root / ".gitignore").write_text("/reviews.csv\n/retraining/\n")
        self.git("init", "-q")
        self.commit("start")
        self.registry = FakeRegistry(folder / "registry")
        self.registry.clock = lambda: self.now
        self.now = datetime(2026, 11, 2, 3, 0, tzinfo=UTC)
        self.next_accuracy = 0.9
        self.trainings: list[str] = []
        self.decisions: list[str] = []
        self.forgotten: list[str] = []
        self.said: list[str] = []
        self.fail: BaseException | None = None
        self.fail_after_decision: BaseException | None = None
        self.store_error: Exception | None = None
        self.tools = Tools(
            open_store=self._open_store,
            registry_is_there=lambda *_: True,
            registry=lambda *_: self.registry,
            repro=self._repro,
            score=self._score,
            decide=self._decide,
            forget=lambda _, run_id: self.forgotten.append(run_id),
        )
        # YAML takes longer than all else in a night, and the params are the same in most of them.
        monkeypatch.setattr(job, "read_params", _read_params)
        monkeypatch.setattr(workspace, "changed_params", _changed_params)
        monkeypatch.setattr(judging, "open_package", self._open_package)
        monkeypatch.setattr(drifting, "drift_report", partial(drifting.drift_report, resamples=400))

    @property
    def places(self) -> Places:
        return Places(root=self.root, name=f"reviews {self.task.replace('_', ' ')}")

    def git(self, *arguments: str) -> None:
        who = ["-c", "user.name=test", "-c", "user.email=test@example.invalid"]
        subprocess.run(["git", "-C", str(self.root), *who, *arguments], check=True, capture_output=True)

    def commit(self, message: str) -> None:
        self.git("add", ".")
        self.git("commit", "-qm", message)

    def write_params(self, **changes: dict[str, Any]) -> None:
        path = self.root / "params.yaml"
        text = (path if path.exists() else ROOT / "params.yaml").read_text()
        path.write_text(_changed_params(text, changes))

    def append(self, number: int, *, seed: int) -> None:
        with self.data.open("a") as file:
            file.write("\n".join(rows(number, seed=seed)) + "\n")

    def night(self, **options: bool) -> Outcome:
        """A run, a day after the one before."""
        self.now += timedelta(days=1)
        self.said = []
        return retrain(self.root, Options(**options), tools=self.tools, clock=lambda: self.now, say=self.said.append)

    def _open_store(self, root: Path, experiment: str) -> None:
        if self.store_error is not None:
            raise self.store_error

    def _repro(self, workspace: Any, target: str, *, store: str) -> None:
        assert target == f"evaluate@{self.task}-gru"
        assert str(self.root / "mlruns" / "mlflow.db") in store
        self.trainings.append(workspace.folder.name)
        if self.fail is not None:
            raise self.fail
        models, data = workspace.folder / "models", workspace.folder / "data"
        prepared = self.places.prepared / workspace.folder.name.split("-")[0]
        train_tokenizer(
            prepared=prepared,
            output=models / "tokenizer",
            model="unigram",
            vocab_size=60,
            character_coverage=1.0,
            byte_fallback=False,
            normalization="identity",
            max_training_megabytes=50,
            seed=1,
        )
        encode_splits(prepared=prepared, tokenizer_folder=models / "tokenizer", output=data / "encoded", max_length=64)
        shutil.copyfile(prepared / "test.parquet", data / "prepared" / "test.parquet")
        write_json(models / self.task / "gru" / "run.json", {"runs": {"1": "a" * 32}})

    def _score(self, folder: Path, scorings: Any, *, packing: Any = None, step: str) -> None:
        if packing is not None:
            shutil.rmtree(packing.out, ignore_errors=True)
            shutil.copytree(Path(packing.cell_folder).parents[1] / "tokenizer", Path(packing.out) / "tokenizer")
            (Path(packing.out) / "accuracy.txt").write_text(str(self.next_accuracy))
        for scoring in scorings:
            accuracy = float((Path(scoring.package) / "accuracy.txt").read_text())
            table = read_table(Path(scoring.documents)).to_pylist()
            chooser = random.Random(3)
            others = {"good": "bad", "bad": "good", None: None}
            labels = [row["label"] for row in table]
            sizes = [len(row["text"].encode()) + 1 for row in table]
            bits = [1.5 - accuracy + chooser.uniform(-0.2, 0.2) for _ in table]
            columns = {
                "id": [row["id"] for row in table],
                "label": labels,
                "predicted": [label if chooser.random() < accuracy else others[label] for label in labels],
                "nll_nats": [math.log(2.0) * one * size for one, size in zip(bits, sizes, strict=True)],
                "num_bytes": sizes,
            }
            with TableWriter(Path(scoring.out), SCHEMA) as writer:
                writer.write(columns)

    @contextmanager
    def _decide(self, root: Path, registered: str, *, title: str, tags: Any, params: Any) -> Iterator[Any]:
        yield SimpleNamespace(log_metrics=lambda _: None, log_text=lambda *_: None)
        self.decisions.append(tags["result"])
        if self.fail_after_decision is not None:
            raise self.fail_after_decision

    def _open_package(self, folder: Path) -> Any:
        digest = sha256_file(folder / "accuracy.txt")
        return SimpleNamespace(hash=digest, seed=1, serving=SimpleNamespace(labels=("bad", "good")))
