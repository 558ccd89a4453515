"""What several trainings have in common: each measure's mean over seeds, with its interval."""

from collections.abc import Mapping, Sequence
from typing import Any

from elman.metrics.intervals import mean_and_interval


def over_seeds(blocks: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Mean and 95 % t interval over seeds of each measure; a measure that overflowed for any seed has no mean.

    Args:
        blocks: The measures of each seed.

    Returns:
        For each measure `mean`, `low`, `high` and `per_seed`, as metrics.json has them.

    Example:
        >>> over_seeds([{"perplexity": 90.0}, {"perplexity": None}])["perplexity"]
        {'mean': None, 'low': None, 'high': None, 'per_seed': [90.0, None]}
    """
    result: dict[str, dict[str, Any]] = {}
    for name in blocks[0]:
        values = [block[name] for block in blocks]
        if any(value is None for value in values):
            result[name] = {"mean": None, "low": None, "high": None, "per_seed": values}
            continue
        interval = mean_and_interval([float(value) for value in values])
        result[name] = {**interval._asdict(), "per_seed": values}
    return result
