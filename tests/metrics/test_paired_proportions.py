import math

import numpy as np
import pytest
from scipy import optimize, stats

from elman.errors import MetricError
from elman.metrics.paired_proportions import paired_proportions


def statistic(d: float, b: int, c: int, n: int) -> float:
    """The score statistic with the likeliest share found by maximising the likelihood, not by the formula."""

    def unlikeliness(q: float) -> float:
        rest = 1.0 - 2.0 * q - d
        terms = ((b, q + d), (c, q), (n - b - c, rest))
        return -sum(count * math.log(max(share, 1e-300)) for count, share in terms if count)

    bounds = (max(0.0, -d), (1.0 - d) / 2.0)
    q = optimize.minimize_scalar(unlikeliness, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    return (b - c - n * d) / math.sqrt(n * (2.0 * q + d * (1.0 - d)))


@pytest.mark.parametrize(("b", "c", "n"), [(14, 5, 90), (1, 7, 21), (6, 16, 161), (0, 3, 40), (30, 31, 2_189)])
def test_at_both_ends_the_score_statistic_is_the_quantile(b: int, c: int, n: int) -> None:
    found = paired_proportions(only_first=b, only_second=c, documents=n, level=0.9)
    z = stats.norm.ppf(0.95)
    assert found.difference == (b - c) / n
    assert statistic(found.low, b, c, n) == pytest.approx(z, abs=1e-3)
    assert statistic(found.high, b, c, n) == pytest.approx(-z, abs=1e-3)


def test_documents_on_which_two_agree_leave_an_interval_that_shrinks_with_their_number() -> None:
    # With b = c = 0 the statistic is sqrt(n D / (1 - D)), so that the end is z^2 / (n + z^2).
    z2 = stats.norm.ppf(0.975) ** 2
    for n in (1, 10, 2_189):
        found = paired_proportions(only_first=0, only_second=0, documents=n)
        assert (found.low, found.high) == (pytest.approx(-z2 / (n + z2)), pytest.approx(z2 / (n + z2)))


def test_one_that_is_always_right_where_the_other_is_never_ends_at_1() -> None:
    z2 = stats.norm.ppf(0.975) ** 2
    assert paired_proportions(only_first=30, only_second=0, documents=30) == (
        1.0,
        pytest.approx((30 - z2) / (30 + z2)),
        1.0,
    )


@pytest.mark.parametrize(("b", "c"), [(4, 0), (3, 0), (17, 6), (16, 6), (100, 73), (100, 74)])
def test_the_interval_lies_above_0_where_mcnemars_statistic_is_above_the_quantile(b: int, c: int) -> None:
    low = paired_proportions(only_first=b, only_second=c, documents=500).low
    assert (low > 0) == ((b - c) / math.sqrt(b + c) > stats.norm.ppf(0.975))


@pytest.mark.parametrize(("share_b", "share_c"), [(0.05, 0.05), (0.02, 0.06), (0.01, 0.005)])
def test_nineteen_in_twenty_intervals_hold_the_true_difference(share_b: float, share_c: float) -> None:
    n, held = 200, 0.0
    most_b, most_c = (int(stats.binom.ppf(1 - 1e-6, n, share)) for share in (share_b, share_c))
    for b in range(most_b + 1):
        for c in range(most_c + 1):
            chance = stats.multinomial.pmf([b, c, n - b - c], n, [share_b, share_c, 1 - share_b - share_c])
            if chance > 1e-7:
                found = paired_proportions(only_first=b, only_second=c, documents=n)
                held += chance * (found.low <= share_b - share_c <= found.high)
    assert 0.93 <= held <= 0.985


def test_counts_that_cannot_be_are_refused() -> None:
    for b, c, n in ((1, 1, 1), (-1, 0, 5), (0, 0, 0)):
        with pytest.raises(MetricError, match=f"of {n} in all"):
            paired_proportions(only_first=b, only_second=c, documents=n)
    with pytest.raises(MetricError, match="level"):
        paired_proportions(only_first=1, only_second=0, documents=5, level=95.0)


def test_the_two_may_change_places() -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        b, c = (int(count) for count in random.integers(0, 30, 2))
        ours = paired_proportions(only_first=b, only_second=c, documents=77)
        theirs = paired_proportions(only_first=c, only_second=b, documents=77)
        assert (ours.low, ours.high) == (pytest.approx(-theirs.high), pytest.approx(-theirs.low))
