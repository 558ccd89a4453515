"""A baseline's row of baseline.json."""

from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]


def baseline_row(
    name: str, description: str, measures: Mapping[str, Any], *, costs: Mapping[str, float] | None = None
) -> Row:
    """The row of one baseline.

    Args:
        name: As in comparison.json.
        description: What it knows, in words.
        measures: Value by measure, on the test split; a flag among them is left out.
        costs: What stands beside it in the report: parameters, train_tokens, train_seconds, trials; as far as known.
    """
    means = {measure: {"mean": value} for measure, value in measures.items() if not isinstance(value, bool)}
    row = {"name": name, "kind": "baseline", "description": description, "measures": means}
    return row if costs is None else {**row, "costs": dict(costs)}
