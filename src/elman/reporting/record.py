"""Adds what only the comparison knows to the runs of the cells: verdict, intervals over documents, and the report."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from elman.reporting.rows import trained
from elman.reporting.verdict import cell_verdict

_COMPARED = "\n\nCompared with the others: "


class _Run(Protocol):
    @property
    def tags(self) -> dict[str, str]: ...

    def set_tags(self, tags: Mapping[str, Any]) -> None: ...

    def log_metrics(self, metrics: Mapping[str, float | None]) -> None: ...

    def log_artifact(self, path: Path, folder: str | None = None) -> None: ...


class Runs(Protocol):
    """Opens the runs of training again; `elman.tracking.tracker.Tracker` is one."""

    def has_run(self, run_id: str) -> bool:
        """Whether the store holds the run."""

    def resume(self, run_id: str) -> AbstractContextManager[_Run]:
        """The run, open inside the block."""


def record_comparison(comparison: Mapping[str, Any], *, folder: Path, runs: Runs) -> list[str]:
    """Writes verdict, intervals and report to the run of each cell.

    Args:
        comparison: What comparison.json holds.
        folder: reports/<task>, with the report.
        runs: The tracking store.

    Returns:
        The cells whose runs the store does not have: they were trained where another store recorded them.
    """
    missing = []
    for row in trained(comparison):
        run_id = row.get("run_id")
        if run_id is None or not runs.has_run(run_id):
            missing.append(row["name"])
            continue
        words = cell_verdict(comparison, row["name"])
        with runs.resume(run_id) as run:
            note = run.tags.get("mlflow.note.content", "").split(_COMPARED)[0].rstrip()
            run.set_tags({"verdict": words, "mlflow.note.content": f"{note}{_COMPARED}{words}"})
            run.log_metrics(_intervals(row))
            for name in ("report.html", "report.md", "comparison.json"):
                run.log_artifact(folder / name, "report")
    return missing


def _intervals(row: Mapping[str, Any]) -> dict[str, float | None]:
    found: dict[str, float | None] = {"test/num_seeds": float(len(row["seeds"]))}
    for name, values in row["measures"].items():
        for end, value in values.get("documents", {}).items():
            found[f"test/{name}_documents_{end}"] = value
    return found
