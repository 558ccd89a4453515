"""comparison.json: the numbers of a task's baselines, cells and mixtures in one file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elman.artifacts import read_json
from elman.errors import ArtifactError
from elman.reporting.measures import SHOWN
from elman.reporting.over_documents import document_intervals, read_rows, tested_pairs

VERSION = 2  # of comparison.json
_REPORT_VERSION = 1  # of what the stages before write


def cell_folder(reports: Path, task: str, cell: str) -> Path:
    """Where the evaluate stage writes a cell's reports."""
    return reports / task / "cells" / cell


def build_comparison(
    *, reports: Path, task: str, cells: Sequence[str], dataset: str, commit: str | None = None
) -> dict[str, Any]:
    """Joins a task's rows: the trivial baseline first, then the cells in the order given, then their mixtures.

    Args:
        reports: The folder `reports`.
        task: "classifier" or "language_model".
        cells: Cells that were evaluated.
        dataset: What the data set is called.
        commit: The commit that is checked out, None outside a repository.

    Returns:
        What comparison.json holds.

    Raises:
        ArtifactError: A report is missing, was half written, or is of another version or task.

    Note:
        The form is a contract with readers of comparison.json; a change needs a new version and a line in CHANGELOG.
    """
    path = reports / task / "baseline.json"
    baseline = _checked(path, {"rows": list})
    rows: list[dict[str, Any]] = []
    for row in baseline["rows"]:
        _check_measures(path, row, task, need=("mean",))
        known = {key: row[key] for key in ("description", "costs") if key in row}
        rows.append({"name": row["name"], "kind": "baseline", **known, "measures": row["measures"]})
    rows += [_cell_row(cell_folder(reports, task, cell), task, cell) for cell in cells]
    if task == "language_model":
        rows += [_mixture_row(cell_folder(reports, task, cell) / "mixture.json", cell) for cell in cells]
    systems = read_rows(reports / task, rows)
    for name, found in document_intervals(systems).items():
        _add_document_intervals(next(row for row in rows if row["name"] == name), found)
    head = {"version": VERSION, "task": task, "dataset": dataset, "commit": commit, "split": "test"}
    return {**head, "rows": rows, "pairs": tested_pairs(rows, systems)}


def read_comparison(reports: Path, task: str) -> dict[str, Any]:
    """Reads a task's comparison.json.

    Raises:
        ArtifactError: It is missing, damaged or of another version.
    """
    fields = {"task": str, "dataset": str, "rows": list, "pairs": list}
    return _checked(reports / task / "comparison.json", fields, version=VERSION)


def _cell_row(folder: Path, task: str, cell: str) -> dict[str, Any]:
    path = folder / "metrics.json"
    metrics = _checked(path, {"task": str, "cell": str, "seeds": list, "parameters": int, "measures": dict})
    if (metrics["task"], metrics["cell"]) != (task, cell):
        raise ArtifactError(
            f"{path}: holds {metrics['task']} and {metrics['cell']}, but stands where {task} and {cell} belong; "
            "run `dvc repro`"
        )
    _check_measures(path, metrics, task, need=("mean", "low", "high", "per_seed"))
    row = {"name": cell, "kind": "cell", "parameters": metrics["parameters"], "seeds": metrics["seeds"]}
    row |= {key: metrics.get(key) for key in ("units", "train_seconds", "tokens_per_second", "train_tokens", "epochs")}
    row["run_id"] = read_json(folder / "run.json")["parent_run_id"]
    if "tuning" in metrics:
        row["tuning"] = metrics["tuning"]
    return {**row, "measures": metrics["measures"]}


def _mixture_row(path: Path, cell: str) -> dict[str, Any]:
    mixture = _checked(path, {"cell": str, "baseline": str, "seeds": list, "weight": dict, "measures": dict})
    if mixture["cell"] != cell:
        raise ArtifactError(f"{path}: holds {mixture['cell']}, but stands where {cell} belongs; run `dvc repro`")
    _check_measures(path, mixture, "language_model", need=("mean", "low", "high", "per_seed"))
    row = {"name": f"{cell}+{mixture['baseline']}", "kind": "mixture"}
    return row | {key: mixture[key] for key in ("cell", "baseline", "seeds", "weight", "measures")}


def _add_document_intervals(row: dict[str, Any], found: Mapping[str, Mapping[str, Any]]) -> None:
    measures = {
        key: {**values, "documents": dict(found[key])} if key in found else values
        for key, values in row["measures"].items()
    }
    row["measures"] = measures


def _checked(path: Path, fields: Mapping[str, type], *, version: int = _REPORT_VERSION) -> dict[str, Any]:
    """A JSON object of this version with these fields."""
    value = read_json(path)
    if not isinstance(value, dict) or value.get("version") != version:
        found = value.get("version") if isinstance(value, dict) else type(value).__name__
        raise ArtifactError(f"{path}: version {version} is read here, {found!r} came; run `dvc repro` to write it anew")
    wrong = [name for name, kind in fields.items() if not isinstance(value.get(name), kind)]
    if wrong:
        raise ArtifactError(f"{path}: lacks {', '.join(wrong)}; it was half written: run `dvc repro` to write it anew")
    return value


def _check_measures(path: Path, row: Mapping[str, Any], task: str, *, need: Sequence[str]) -> None:
    measures = row.get("measures", {})
    for measure in SHOWN[task]:
        missing = [key for key in need if key not in measures.get(measure.key, {})]
        if missing:
            raise ArtifactError(
                f"{path}: the measure {measure.key} lacks {', '.join(missing)}; run `dvc repro` to write it anew"
            )
