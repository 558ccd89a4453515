"""How far the seeds of a training lie apart: what luck alone can do between two models of the same data."""

import math
from pathlib import Path

import numpy as np

from elman.artifacts import read_json

_MEASURES = {"classifier": "accuracy", "language_model": "bits_per_byte"}  # what the gate compares


def seed_spread(reports: Path, *, task: str, cell: str) -> float | None:
    """Standard deviation of the gate's measure over the seeds of a cell, on the pipeline's test split.

    Args:
        reports: The pipeline's reports.
        task: "classifier" or "language_model".
        cell: The cell.

    Returns:
        In accuracy, or bits a byte; None with fewer than two seeds, or where nothing was reported.
    """
    path = reports / task / "cells" / cell / "metrics.json"
    if not path.is_file():
        return None
    values = read_json(path)["measures"][_MEASURES[task]]["per_seed"]
    found = [value for value in values if value is not None and math.isfinite(value)]
    return float(np.std(found, ddof=1)) if len(found) > 1 else None
