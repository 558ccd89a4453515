"""Mean over seeds, with the interval that says how far another set of seeds might have moved it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from elman.errors import MetricError


class Interval(NamedTuple):
    """A mean and the ends of its interval; the ends are None where one value says nothing about the spread."""

    mean: float
    low: float | None
    high: float | None


def mean_and_interval(values: Sequence[float], *, level: float = 0.95) -> Interval:
    """The mean of a few seeds and Student's t interval around it.

    mean +- t * s / sqrt(n), with s the standard deviation over the n seeds (divided by n - 1) and t the quantile at
    (1 + level) / 2 of Student's distribution with n - 1 degrees of freedom. With three seeds t is 4.30, not 1.96: an
    interval from the normal distribution would be less than half as wide and hold the true mean about four times in
    five. It tells what changes with the seed, on this one test split; it says nothing about other documents.

    Args:
        values: One value a seed.
        level: Share of such intervals that hold the true mean, 0 < level < 1.

    Returns:
        Mean, low and high, in the unit of the values.

    Raises:
        MetricError: No values, one that is not finite, or a level that is not between 0 and 1.

    Example:
        >>> interval = mean_and_interval([1.0, 2.0, 3.0])
        >>> interval.mean, round(interval.low, 3), round(interval.high, 3)
        (2.0, -0.484, 4.484)
        >>> mean_and_interval([0.5])
        Interval(mean=0.5, low=None, high=None)

    References:
        student1908probable in docs/references.bib.
    """
    if not 0.0 < level < 1.0:
        raise MetricError(f"the level of an interval is a share between 0 and 1, such as 0.95; {level} came")
    if len(values) == 0:
        raise MetricError("a mean over seeds needs at least one value; none came")
    wrong = [value for value in values if not math.isfinite(value)]
    if wrong:
        raise MetricError(f"a mean over seeds needs finite values; {wrong} came")
    numbers = np.asarray(values, np.float64)  # (seeds,)
    mean = float(numbers.mean())
    if len(numbers) == 1:
        return Interval(mean=mean, low=None, high=None)
    quantile = float(stats.t.ppf((1.0 + level) / 2.0, df=len(numbers) - 1))
    half = quantile * float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return Interval(mean=mean, low=mean - half, high=mean + half)
