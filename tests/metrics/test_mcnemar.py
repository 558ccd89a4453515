import numpy as np
import pytest
from scipy import stats

from elman.errors import MetricError
from elman.metrics.mcnemar import McNemar, mcnemar


def test_only_documents_on_which_the_two_differ_count() -> None:
    first = np.array([True] * 9 + [False] * 3 + [True] * 100)
    second = np.array([False] * 9 + [True] * 3 + [True] * 100)
    # Of 2^12 patterns, 1 + 12 + 66 + 220 have at most three on one side; two-sided twice as many.
    assert mcnemar(first, second) == McNemar(9, 3, pytest.approx(2 * 299 / 4096, abs=1e-12))


@pytest.mark.parametrize(("b", "c"), [(0, 1), (5, 5), (10, 25), (400, 340)])
def test_p_is_that_of_scipys_binomial_test(b: int, c: int) -> None:
    first = np.array([True] * b + [False] * c)
    assert mcnemar(first, ~first).p_value == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)


def test_all_right_is_no_difference() -> None:
    assert mcnemar(np.ones(4, bool), np.ones(4, bool)) == McNemar(0, 0, 1.0)


def test_a_twentieth_of_null_pairs_and_most_planted_ones_are_called_different() -> None:
    random = np.random.default_rng(1)

    def share(first: float, second: float) -> float:
        draws = [(random.random(3000) < first, random.random(3000) < second) for _ in range(1000)]
        return float(np.mean([mcnemar(*pair).p_value < 0.05 for pair in draws]))

    assert 0.03 <= share(0.8, 0.8) <= 0.07
    assert share(0.84, 0.8) > 0.95


def test_other_documents_are_refused() -> None:
    with pytest.raises(MetricError, match="same documents"):
        mcnemar(np.ones(3, bool), np.ones(2, bool))
