import math

import numpy as np
import pytest

from elman.errors import MetricError
from elman.metrics.intervals import Interval, mean_and_interval


def test_three_seeds_give_the_interval_of_the_t_table() -> None:
    # s = 0.01, t(0.975, 2 degrees of freedom) = 4.302653
    interval = mean_and_interval([0.95, 0.96, 0.97])
    half = 4.302653 * 0.01 / math.sqrt(3)
    assert interval == pytest.approx((0.96, 0.96 - half, 0.96 + half), abs=1e-8)


def test_one_seed_has_a_mean_and_no_interval() -> None:
    assert mean_and_interval([0.9]) == Interval(0.9, None, None)


def test_equal_seeds_have_an_interval_of_no_width() -> None:
    assert mean_and_interval([0.5, 0.5, 0.5]) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(("seeds", "level"), [(2, 0.95), (3, 0.95), (3, 0.8), (8, 0.95)])
def test_the_interval_holds_the_true_mean_as_often_as_it_says(seeds: int, level: float) -> None:
    draws = np.random.default_rng(7).normal(loc=0.93, scale=0.013, size=(4000, seeds))
    intervals = [mean_and_interval(row.tolist(), level=level) for row in draws]
    held = np.mean([low <= 0.93 <= high for _, low, high in intervals])
    assert held == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / len(draws)))


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_a_level_that_is_no_share_is_refused(level: float) -> None:
    with pytest.raises(MetricError, match="between 0 and 1"):
        mean_and_interval([1.0, 2.0], level=level)


@pytest.mark.parametrize(("values", "message"), [([], "none came"), ([0.9, math.nan], "nan"), ([math.inf], "inf")])
def test_values_that_have_no_mean_are_refused(values: list[float], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        mean_and_interval(values)
