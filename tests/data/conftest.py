"""Runs the prepare stage on files that a test writes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from elman.artifacts import read_json, read_table
from elman.config import DatasetConfig, PrepareConfig
from elman.data.prepare import prepare


@dataclass(frozen=True)
class Prepared:
    """What a run of the stage left behind."""

    out: Path
    summary: dict[str, Any]

    def rows(self, split: str) -> list[dict[str, Any]]:
        return read_table(self.out / f"{split}.parquet").to_pylist()

    def texts(self, *splits: str) -> list[str]:
        return [row["text"] for split in splits or ("train", "valid", "test") for row in self.rows(split)]

    def labels(self) -> list[str]:
        return read_json(self.out / "labels.json")["labels"]


Prepare = Callable[..., Prepared]


@pytest.fixture
def prepare_files(tmp_path: Path) -> Prepare:
    """Writes files (text as UTF-8, or bytes) and prepares them.

    With one file `dataset.path` is that file, with several their folder. Settings of `dataset` and `prepare` are
    keywords; without `label_column` the data is for language modelling only.
    """

    def run(files: dict[str, str | bytes], *, out: str = "prepared", **settings: Any) -> Prepared:
        root = tmp_path / "own"
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        cleaning = {key: settings.pop(key) for key in list(settings) if key in PrepareConfig.model_fields}
        path = root if len(files) > 1 else root / next(iter(files))
        tasks = ("language_model",) if settings.get("label_column") is None else ("classifier", "language_model")
        dataset = DatasetConfig(**{"path": str(path), "tasks": tasks, **settings})
        summary = prepare(dataset=dataset, cleaning=PrepareConfig(**cleaning), out=tmp_path / out)
        return Prepared(tmp_path / out, summary)

    return run


def reviews(*, num_rows: int, sentiments: tuple[str, ...] = ("good", "bad"), start: int = 0) -> list[tuple[str, str]]:
    """Different short texts with their labels, enough to fill all splits by hash."""
    return [
        (
            f"{sentiments[i % len(sentiments)]} film number {i} seen in room {i * 7 % 100}",
            sentiments[i % len(sentiments)],
        )
        for i in range(start, start + num_rows)
    ]
