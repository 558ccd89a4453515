"""Everything that a report page shows, read once."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elman.artifacts import read_json, sha256_file
from elman.reporting.calibration import read_calibration
from elman.reporting.class_intervals import class_intervals
from elman.reporting.comparing.system import read_system
from elman.reporting.comparison import build_comparison, cell_folder
from elman.reporting.confusion import read_classes
from elman.reporting.curves import History, read_history
from elman.reporting.measures import title
from elman.reporting.rows import trained
from elman.reporting.surprise import read_surprise
from elman.tracking.git import GitState, git_state


@dataclass(frozen=True)
class ReportInputs:
    """What stands behind one task's report.

    Attributes:
        comparison: What comparison.json holds.
        histories: Learning curves by cell.
        classes: per_class.json by cell, with the intervals of `class_intervals`; empty for a language model.
        calibration: calibration.json by cell; empty for a language model.
        mistakes: The rows of mistakes.json by cell; empty for a language model.
        surprise: surprise.json by cell; empty for a classifier.
        prepared: Summary of the prepare stage.
        encoded: Summary of the encode stage.
        origin: What the numbers were made from: name and value, in the order shown.
        commands: What makes them again, a line each.
    """

    comparison: Mapping[str, Any]
    histories: Mapping[str, History]
    classes: Mapping[str, Mapping[str, Any]]
    calibration: Mapping[str, Mapping[str, Any]]
    mistakes: Mapping[str, Sequence[Mapping[str, Any]]]
    surprise: Mapping[str, Mapping[str, Any]]
    prepared: Mapping[str, Any]
    encoded: Mapping[str, Any]
    origin: Sequence[tuple[str, str]]
    commands: Sequence[str]


def read_inputs(
    *,
    reports: Path,
    task: str,
    cells: Sequence[str],
    dataset: str,
    settings: Mapping[str, Any],
    prepared: Path,
    encoded: Path,
    root: Path,
    command: str | None = None,
) -> ReportInputs:
    """Reads and checks all of a task's reports.

    Args:
        reports: The folder `reports`.
        task: "classifier" or "language_model".
        cells: Cells that were evaluated.
        dataset: What the data set is called.
        settings: The part of params.yaml that these numbers depend on.
        prepared: summary.json of the prepare stage.
        encoded: summary.json of the encode stage.
        root: A folder of the checkout.
        command: What makes these numbers; None is the pipeline.

    Raises:
        ArtifactError: A report is missing, was half written, or is of another version or task.
    """
    state = git_state(root)
    folders = {cell: cell_folder(reports, task, cell) for cell in cells}
    labelled, unlabelled = (folders, {}) if task == "classifier" else ({}, folders)
    comparison = build_comparison(reports=reports, task=task, cells=cells, dataset=dataset, commit=state.commit)
    return ReportInputs(
        comparison=comparison,
        histories={cell: read_history(folder / "history.csv") for cell, folder in folders.items()},
        classes={cell: _classes(folder, cell) for cell, folder in labelled.items()},
        calibration={cell: read_calibration(folder / "calibration.json") for cell, folder in labelled.items()},
        mistakes={cell: read_json(folder / "mistakes.json")["mistakes"] for cell, folder in labelled.items()},
        surprise={cell: read_surprise(folder / "surprise.json") for cell, folder in unlabelled.items()},
        prepared=read_json(prepared),
        encoded=read_json(encoded),
        origin=[
            ("commit", _shown(state)),
            ("settings", f"sha256 {settings_hash(settings)[:16]}"),
            ("prepared text", f"sha256 {sha256_file(prepared)[:16]} of {prepared.as_posix()}"),
            ("encoded text", f"sha256 {sha256_file(encoded)[:16]} of {encoded.as_posix()}"),
            *((f"{title(row['name'])}, run in MLflow", row["run_id"]) for row in trained(comparison)),
        ],
        commands=[
            *([f"git checkout {state.commit}"] if state.commit else []),
            command or f"dvc repro compare@{task}",
        ],
    )


def _classes(folder: Path, cell: str) -> dict[str, Any]:
    classes = read_classes(folder / "per_class.json")
    return {**classes, **class_intervals(classes, read_system(folder, name=cell))}


def settings_hash(settings: Mapping[str, Any]) -> str:
    """SHA-256 of settings by value: comments, order and spelling of params.yaml do not change it.

    Example:
        >>> settings_hash({"units": 8, "cells": ("gru",)}) == settings_hash({"cells": ["gru"], "units": 8})
        True
    """
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _shown(state: GitState) -> str:
    if state.commit is None:
        return "none: outside a git repository"
    return f"{state.commit}{', with changes that are not in it' if state.dirty else ''}"
