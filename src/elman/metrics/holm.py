"""Holm's correction: many comparisons, and still at most one chance in twenty of any false find."""

import math
from collections.abc import Sequence

import numpy as np

from elman.errors import MetricError


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given; compare each with the level wanted for all together.

    With p_(1) <= ... <= p_(m), the adjusted p_(k) is the largest of min(1, (m - j + 1) p_(j)) over j <= k. It holds for
    tests that depend on each other, as all pairs of systems do, and finds whatever Bonferroni's correction finds.

    Raises:
        MetricError: A value is not between 0 and 1.

    Example:
        >>> holm([0.04, 0.01, 0.03])
        [0.06, 0.03, 0.06]

    References:
        holm1979simple in docs/references.bib.
    """
    wrong = [value for value in p_values if math.isnan(value) or not 0.0 <= value <= 1.0]
    if wrong:
        raise MetricError(f"a p-value is between 0 and 1; {wrong} came")
    values = np.asarray(p_values, np.float64)
    order = np.argsort(values, kind="stable")
    scaled = np.minimum(1.0, values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(scaled)
    return [float(value) for value in adjusted]
