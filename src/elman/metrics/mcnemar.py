"""McNemar's exact test: of the documents that only one of two classifiers gets right, who gets more?"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from elman.errors import MetricError


class McNemar(NamedTuple):
    """Documents that only the first or only the second gets right, and the two-sided p."""

    only_first: int
    only_second: int
    p_value: float


def mcnemar(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> McNemar:
    """McNemar's exact two-sided test.

    With b and c documents that only one of the two gets right, b is binomial(b + c, 1/2) if neither is better, and
    p = min(1, 2 * P(X <= min(b, c))). Documents that both or neither get right say nothing. Exact, since the form with
    chi-squared is too ready to see a difference where b + c is small.

    Args:
        first: bool (N,). Whether the first classifier is right.
        second: bool (N,). The same documents, the second classifier.

    Returns:
        Counts and p; p is 1 where b + c is 0, as when both get all right.

    Raises:
        MetricError: No documents, or not the same number of them.

    Example:
        >>> mcnemar(np.array([True] * 5 + [False]), np.array([False] * 5 + [False]))
        McNemar(only_first=5, only_second=0, p_value=0.0625)

    References:
        mcnemar1947note in docs/references.bib.
    """
    if len(first) != len(second) or len(first) == 0:
        raise MetricError(f"McNemar's test needs the same documents twice; {len(first)} and {len(second)} came")
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    if only_first + only_second == 0:
        return McNemar(0, 0, 1.0)
    tail = float(stats.binom.cdf(min(only_first, only_second), only_first + only_second, 0.5))
    return McNemar(only_first, only_second, min(1.0, 2.0 * tail))
