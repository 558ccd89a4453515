"""Runs the prepare stage on files that a test writes."""

from pathlib import Path
from typing import Any

import pytest

from elman.config import DatasetConfig, PrepareConfig
from elman.data.prepare import prepare
from tests.helpers.prepared_files import Prepare, Prepared


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
