"""Prepared data for the facts that are taken of it, and a checkout for the job."""

from collections.abc import Callable
from pathlib import Path

import pytest

from elman.config import DatasetConfig, PrepareConfig
from elman.data.prepare import prepare
from elman.data.reading.dataset import open_dataset
from elman.data.reading.raw_columns import raw_columns
from elman.retraining.facts import DataFacts, facts_of
from tests.helpers.retraining import Checkout

Facts = Callable[..., DataFacts]


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    """Writes a CSV of (text, label) rows, prepares it and takes its facts."""

    def run(rows: list[tuple[str, str]], *, header: str = "text,label", encoding: str = "utf-8") -> DataFacts:
        path = tmp_path / "news.csv"
        extra = "," * (header.count(",") - 1)
        lines = [header, *(f"{text},{label}{extra}" for text, label in rows)]
        path.write_text("\n".join(lines) + "\n", encoding=encoding)
        dataset = DatasetConfig(
            path=str(path), tasks=("classifier",), label_column="label", encoding="auto", format="csv"
        )
        prepare(dataset=dataset, cleaning=PrepareConfig(max_leaked_fraction=1.0), out=tmp_path / "prepared")
        return facts_of(tmp_path / "prepared", path="news.csv", columns=raw_columns(open_dataset(dataset)))

    return run


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return Checkout(tmp_path, monkeypatch)
