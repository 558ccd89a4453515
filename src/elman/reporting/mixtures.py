"""What a reader has to know about the rows of mixtures."""

from collections.abc import Mapping
from typing import Any

from elman.reporting.measures import number, title
from elman.reporting.rows import mixtures


def mixture_note(comparison: Mapping[str, Any]) -> str | None:
    """What a mixture is, and how much of each network stands in it; None where there is no mixture."""
    rows = mixtures(comparison)
    if not rows:
        return None
    weights = ", ".join(f"{title(row['cell'])} {number(row['weight']['mean'], 2)}" for row in rows)
    baseline = title(rows[0]["baseline"])
    return (
        f"A mixture takes the share w of the network's probability and the rest of {baseline}'s; each seed's w is "
        f"chosen on validation. Mean w: {weights}."
    )
