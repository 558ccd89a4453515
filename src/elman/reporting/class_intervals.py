"""How sure the F1 of each class is."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from elman.metrics.intervals import mean_and_interval
from elman.metrics.paired_bootstrap import RESAMPLES
from elman.reporting.comparing.measuring import class_f1
from elman.reporting.comparing.system import System

Ends = tuple[float, float] | None


def class_intervals(classes: Mapping[str, Any], system: System) -> dict[str, list[Ends]]:
    """The 95 % intervals of each class's F1: "f1_seeds" (t, over seeds) and "f1_documents" (bootstrap).

    Args:
        classes: per_class.json.
        system: The cell's scores by document.

    Returns:
        Two ends for each class; None with one seed, with one document, and for a class that does not occur.
    """
    observed, resampled = class_f1(system, resamples=RESAMPLES, seed=1)  # (S, C), (R, C)
    seeds: list[Ends] = []
    documents: list[Ends] = []
    for values, draws in zip(observed.T, resampled.T, strict=True):
        over = mean_and_interval(values.tolist())
        seeds.append(None if over.low is None or over.high is None else (over.low, over.high))
        low, high = np.quantile(draws, [0.025, 0.975]).tolist()
        documents.append((low, high) if len(system.documents["id"]) > 1 else None)
    absent: list[Ends] = [None] * (len(classes["labels"]) - len(seeds))  # the last labels may never occur in test
    return {"f1_seeds": seeds + absent, "f1_documents": documents + absent}
