"""What tests of the prepare stage share: the tables of a run, and texts enough to fill every split."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elman.artifacts import read_json, read_table


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


def reviews(*, num_rows: int, sentiments: tuple[str, ...] = ("good", "bad"), start: int = 0) -> list[tuple[str, str]]:
    """Different short texts with their labels, enough to fill all splits by hash."""
    return [
        (
            f"{sentiments[i % len(sentiments)]} film number {i} seen in room {i * 7 % 100}",
            sentiments[i % len(sentiments)],
        )
        for i in range(start, start + num_rows)
    ]
