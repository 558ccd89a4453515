"""What stands beside each row so that a comparison is fair: size, work and tuning."""

from collections.abc import Mapping
from typing import Any

from elman.reporting.measures import number

COSTS = (
    "parameters",
    "units",
    "seeds",
    "training tokens",
    "epochs",
    "training seconds",
    "tokens a second",
    "tried settings",
)


def costs(row: Mapping[str, Any]) -> list[str]:
    """The values of `COSTS` for a row of comparison.json; empty where the row knows none, such as seeds of a baseline.

    A cell whose settings no search chose has 1 tried setting: its own.
    """
    if row["kind"] == "baseline":
        known = row.get("costs", {})
        return [
            _shown(known.get("parameters")), "", "", _shown(known.get("train_tokens")), "",
            _shown(known.get("train_seconds"), 1), "", _shown(known.get("trials")),
        ]  # fmt: skip
    if row["kind"] == "mixture":  # what its parts cost stands in their rows
        return [""] * len(COSTS)
    trials = (row.get("tuning") or {}).get("trials", 1)
    return [
        _shown(row.get("parameters")), _shown(row.get("units")), str(len(row["seeds"])),
        _shown(row.get("train_tokens")),
        _shown(row.get("epochs"), 1), _shown(row.get("train_seconds"), 1), _shown(row.get("tokens_per_second")),
        _shown(trials),
    ]  # fmt: skip


def _shown(value: float | None, decimals: int = 0) -> str:
    return "" if value is None else number(value, decimals)
