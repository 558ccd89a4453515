"""The difference of two systems over seeds: what changes when only the seed changes."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from elman.errors import MetricError


class SeedDifference(NamedTuple):
    """Mean difference first - second with its t interval; None where single seeds say nothing about the spread.

    Attributes:
        difference: In the unit of the measure.
        low: Lower end of the interval.
        high: Upper end.
        p_value: Two-sided.
        paired: Whether the same seeds were compared with each other.
        seeds: Seeds that entered, of the first and of the second.
    """

    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    paired: bool
    seeds: tuple[int, int]


def paired_seeds(first: Mapping[int, float], second: Mapping[int, float], *, level: float = 0.95) -> SeedDifference:
    """Student's paired t over matching seeds where both have the same two or more, else Welch's t.

    Paired: d_s = a_s - b_s, t = mean(d) / (sd(d) / sqrt(n)) with n - 1 degrees of freedom. Welch: t = (mean a - mean b)
    / sqrt(va / na + vb / nb) with the degrees of freedom of Welch and Satterthwaite. Where no value moves, p is 1 for a
    difference of 0 and 0 for any other: these seeds then leave no doubt, right or wrong.

    Args:
        first: The measure by seed.
        second: The same measure of the other system.
        level: Share of such intervals that hold the true difference.

    Raises:
        MetricError: A system has no seed, or a value is not finite.

    Example:
        >>> result = paired_seeds({1: 1.0, 2: 2.0, 3: 3.0}, {1: 0.0, 2: 0.0, 3: 0.0})
        >>> result.difference, round(result.low, 3), round(result.high, 3), round(result.p_value, 4)
        (2.0, -0.484, 4.484, 0.0742)

    References:
        student1908probable, welch1947generalization in docs/references.bib.
    """
    values = [*first.values(), *second.values()]
    if not first or not second or not all(math.isfinite(value) for value in values):
        raise MetricError(f"a comparison over seeds needs finite values of both systems; {first} and {second} came")
    paired = set(first) == set(second) and len(first) > 1
    a, b = np.array(list(first.values())), np.array(list(second.values()))
    difference = float(a.mean() - b.mean())
    if paired:
        error, freedom = _error(np.array([first[seed] - second[seed] for seed in first])), float(len(first) - 1)
    elif len(a) > 1 and len(b) > 1:
        error = math.hypot(_error(a), _error(b))
        parts = _error(a) ** 4 / (len(a) - 1) + _error(b) ** 4 / (len(b) - 1)
        freedom = error**4 / parts if parts > 0 else float(len(a) + len(b) - 2)
    else:
        return SeedDifference(difference, None, None, None, False, (len(a), len(b)))
    half = float(stats.t.ppf((1.0 + level) / 2.0, df=freedom)) * error
    p_value = _p_value(difference, error, freedom, scale=max(map(abs, values)))
    return SeedDifference(difference, difference - half, difference + half, p_value, paired, (len(a), len(b)))


def _error(values: npt.NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def _p_value(difference: float, error: float, freedom: float, *, scale: float) -> float:
    if error <= 1e-14 * scale:  # equal but for rounding
        return 1.0 if abs(difference) <= 1e-14 * scale else 0.0
    return float(2.0 * stats.t.sf(abs(difference) / error, df=freedom))
