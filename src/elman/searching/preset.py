"""What a search found, as a params file of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman.artifacts import write_text
from elman.config import Params, load_params
from elman.params_text import changed_params


def write_preset(
    source: Path,
    out: Path,
    *,
    params: Params,
    task: str,
    cell: str,
    settings: Mapping[str, Any],
    cost: Mapping[str, Any],
    note: str,
) -> None:
    """Copies `source` to `out` with the cell's settings changed and the cost of finding them added to `tuning`.

    Trials that the settings in force had cost before are added, so that a report shows all that the cell had.

    Args:
        source: The params file that the search started from.
        out: Where to write.
        params: What `source` holds.
        task: "classifier" or "language_model".
        cell: Which cell.
        settings: The found values, an entry of `<task>_cells`.
        cost: "trials" and "seconds" of this search.
        note: A line about the search, which becomes the first comment.

    Raises:
        ConfigError: The changed file would be refused; a test holds that this does not happen.
    """
    entry = {**getattr(params, f"{task}_cells").get(cell, {}), **settings}
    budgets = params.tuning.model_dump(mode="json")
    before = budgets[task].get(cell, {"trials": 0, "seconds": 0.0})
    budgets[task][cell] = {name: before[name] + cost[name] for name in ("trials", "seconds")}
    text = changed_params(
        source.read_text(encoding="utf-8"),
        {f"{task}_cells": {cell: entry}, "tuning": {name: kind for name, kind in budgets.items() if kind}},
    )
    write_text(out, f"# {note}\n{text}")
    load_params(out)
