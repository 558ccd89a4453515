"""The rows of a comparison by kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from elman.reporting.measures import Measure


def baselines(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of models without a network."""
    return [row for row in comparison["rows"] if row["kind"] == "baseline"]


def trained(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of cells."""
    return [row for row in comparison["rows"] if row["kind"] == "cell"]


def mixtures(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of cells mixed with a baseline; empty for a classifier."""
    return [row for row in comparison["rows"] if row["kind"] == "mixture"]


def strongest(rows: Sequence[Mapping[str, Any]], measure: Measure) -> Mapping[str, Any] | None:
    """The row with the best value, as the baseline which a cell has to beat; None where none has a value."""
    known = [row for row in rows if row["measures"].get(measure.key, {}).get("mean") is not None]
    sign = 1.0 if measure.lower_is_better else -1.0
    return min(known, key=lambda row: sign * float(row["measures"][measure.key]["mean"]), default=None)


def strongest_bar(comparison: Mapping[str, Any], measure: Measure) -> tuple[str, float] | None:
    """Name and value of the strongest baseline, for a figure."""
    row = strongest(baselines(comparison), measure)
    return None if row is None else (row["name"], float(row["measures"][measure.key]["mean"]))
