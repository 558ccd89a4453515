"""How far apart two shares are that were counted on the same documents, with Tango's score interval."""

import math
from typing import NamedTuple

from scipy import optimize, special

from elman.errors import MetricError


class PairedProportions(NamedTuple):
    """The first share minus the second, and the ends of its interval."""

    difference: float
    low: float
    high: float


def paired_proportions(*, only_first: int, only_second: int, documents: int, level: float = 0.95) -> PairedProportions:
    """The difference of two classifiers' accuracies, and Tango's interval for it.

    With b documents that only the first gets right, c that only the second does, and n in all, the difference is
    (b - c) / n. The interval holds every D with |T(D)| <= z, where

        T(D) = (b - c - n D) / sqrt(n (2 q + D (1 - D)))

    and q is the likeliest share of documents that only the second gets right, were D the true difference:
    q = (sqrt(B^2 - 4 A C) - B) / (2 A), A = 2 n, B = (2 n - b + c) D - b - c, C = -c D (1 - D). At D = 0 it is
    McNemar's statistic. Resampling and the usual standard error have no width where b = c = 0 and are too narrow where
    both are small; this one is not, so that ten documents on which two models agree do not show that they are equal.

    Args:
        only_first: b.
        only_second: c.
        documents: n.
        level: Share of such intervals that hold the true difference.

    Raises:
        MetricError: No documents, more of one kind than there are, or a level that is not between 0 and 1.

    Example:
        >>> agreeing = paired_proportions(only_first=0, only_second=0, documents=10)
        >>> round(agreeing.low, 3), round(agreeing.high, 3)
        (-0.278, 0.278)

    References:
        tango1998equivalence in docs/references.bib.
    """
    if documents < 1 or min(only_first, only_second) < 0 or only_first + only_second > documents:
        raise MetricError(
            f"{only_first} documents that only the first gets right and {only_second} that only the second does, "
            f"of {documents} in all"
        )
    if not 0.0 < level < 1.0:
        raise MetricError(f"the level of an interval is a share between 0 and 1, such as 0.95; {level} came")
    z = float(special.ndtri((1.0 + level) / 2.0))
    return PairedProportions(
        difference=(only_first - only_second) / documents,
        low=_low(only_first, only_second, documents, z),
        high=-_low(only_second, only_first, documents, z),
    )


def _low(b: int, c: int, n: int, z: float) -> float:
    """The D below (b - c) / n with T(D) = z."""
    difference = (b - c) / n
    if c == n:
        return -1.0

    def beyond(d: float) -> float:
        return b - c - n * d - z * _spread(d, b, c, n)

    below = max(-1.0, difference - 1e-12)  # where b = n there is no spread at the difference itself
    return float(optimize.brentq(beyond, -1.0, below, xtol=1e-12))


def _spread(d: float, b: int, c: int, n: int) -> float:
    """The standard deviation of b - c, were d the true difference."""
    linear = (2 * n - b + c) * d - b - c
    root = math.sqrt(max(0.0, linear * linear + 8.0 * n * c * d * (1.0 - d)))
    q = (root - linear) / (4.0 * n)
    return math.sqrt(max(0.0, n * (2.0 * q + d * (1.0 - d))))
