import math

import numpy as np
import pytest
from scipy import stats

from elman.errors import MetricError
from elman.metrics.paired_seeds import SeedDifference, paired_seeds

A, B = {1: 0.95, 2: 0.97, 3: 0.96}, {3: 0.955, 1: 0.93, 2: 0.95}


def test_matching_seeds_are_paired_whatever_their_order() -> None:
    theirs = stats.ttest_rel([0.95, 0.97, 0.96], [0.93, 0.95, 0.955])
    ours = paired_seeds(A, B)
    assert ours.paired
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-9)


def test_other_seeds_are_compared_by_welch() -> None:
    second = {7: 0.93, 8: 0.95, 9: 0.94, 10: 0.90}
    theirs = stats.ttest_ind(list(A.values()), list(second.values()), equal_var=False)
    ours = paired_seeds(A, second)
    assert (ours.paired, ours.seeds) == (False, (3, 4))
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-9)


def test_a_single_seed_has_a_difference_and_no_interval() -> None:
    assert paired_seeds({1: 2.0}, {1: 0.5}) == SeedDifference(1.5, None, None, None, False, (1, 1))
    assert paired_seeds(A, {0: 0.5}).p_value is None


@pytest.mark.parametrize(("shift", "p_value"), [(0.0, 1.0), (1.0, 0.0)])
def test_without_variance_p_is_0_or_1(shift: float, p_value: float) -> None:
    result = paired_seeds({1: 2.0 + shift, 2: 3.0 + shift}, {1: 2.0, 2: 3.0})
    assert result == SeedDifference(shift, shift, shift, p_value, True, (2, 2))


@pytest.mark.parametrize("paired", [True, False])
def test_the_interval_holds_and_the_null_is_rejected_as_often_as_they_say(paired: bool) -> None:
    random = np.random.default_rng(12)
    results = []
    for _ in range(1000):
        a, b = random.normal(size=(2, 5))
        seeds = range(5) if paired else range(5, 10)
        results.append(paired_seeds(dict(enumerate(a)), dict(zip(seeds, b, strict=True))))
    assert 0.93 <= np.mean([result.low <= 0.0 <= result.high for result in results]) <= 0.97
    assert 0.03 <= np.mean([result.p_value < 0.05 for result in results]) <= 0.07


@pytest.mark.parametrize("wrong", [{}, {1: math.nan}])
def test_no_seed_and_no_number_are_refused(wrong: dict[int, float]) -> None:
    with pytest.raises(MetricError, match="finite values of both"):
        paired_seeds(A, wrong)
