import math

import numpy as np
import pytest

from elman.errors import MetricError
from elman.metrics.mixture import best_weight, mixture_log_probabilities

NEVER = -math.inf


def two_models(seed: int, tokens: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Log probabilities of two models that agree in part; the second one is the better."""
    random = np.random.default_rng(seed)
    shared = random.gamma(2.0, 1.5, tokens)
    return -(shared + random.gamma(1.0, 1.2, tokens)), -(shared + random.gamma(1.0, 0.9, tokens))


@pytest.mark.parametrize("seed", range(5))
def test_the_weight_is_the_best_of_a_fine_grid(seed: int) -> None:
    first, second = two_models(seed)
    grid = np.linspace(0.0, 1.0, 100_001)
    p, q = np.exp(first)[:, None], np.exp(second)[:, None]
    means = np.concatenate([np.log(part * p + (1 - part) * q).mean(axis=0) for part in np.split(grid[1:], 100)])
    best = grid[1:][means.argmax()]
    weight = best_weight(first, second)
    assert 0.05 < weight < 0.95
    assert weight == pytest.approx(best, abs=1.01e-5)
    assert mixture_log_probabilities(first, second, weight=weight).mean() >= means.max()


@pytest.mark.parametrize("seed", range(3))
def test_the_weights_of_the_two_models_add_up_to_1(seed: int) -> None:
    first, second = two_models(seed)
    assert best_weight(first, second) + best_weight(second, first) == pytest.approx(1.0, abs=3e-9)


def test_a_weight_worked_by_hand() -> None:
    # Three tokens of p1 = a, p2 = b, and one of p1 = b, p2 = a: 3 / (b + (a - b) w) = 1 / (a - (a - b) w).
    a, b = 0.4, 0.05
    first, second = np.log([a, a, a, b]), np.log([b, b, b, a])
    assert best_weight(first, second) == pytest.approx((3 * a - b) / (4 * (a - b)), abs=2e-9)


def test_a_mixture_beats_both_models_where_the_weight_is_inside() -> None:
    first, second = two_models(7)
    mixed = mixture_log_probabilities(first, second, weight=best_weight(first, second))
    assert mixed.mean() > max(first.mean(), second.mean())


def test_a_model_that_is_better_at_every_token_takes_all() -> None:
    better = np.log([0.5, 0.3, 0.2])
    worse = np.log([0.4, 0.3, 0.1])
    assert best_weight(better, worse) == 1.0
    assert best_weight(worse, better) == 0.0
    assert mixture_log_probabilities(better, worse, weight=1.0).tolist() == better.tolist()
    assert mixture_log_probabilities(better, worse, weight=0.0).tolist() == worse.tolist()


def test_models_that_agree_get_the_weight_0_and_any_weight_gives_the_same() -> None:
    logs = np.log([0.5, 0.3, 0.2])
    assert best_weight(logs, logs.copy()) == 0.0
    np.testing.assert_allclose(mixture_log_probabilities(logs, logs, weight=0.37), logs, rtol=1e-15)


def test_what_one_model_thinks_impossible_leaves_it_part_of_the_weight() -> None:
    # Of four tokens the first model finds one impossible; elsewhere it is sure and the second is not.
    first, second = np.array([NEVER, 0.0, 0.0, 0.0]), np.full(4, math.log(1e-6))
    weight = best_weight(first, second)
    assert weight == pytest.approx(0.75, abs=1e-5)
    assert best_weight(second, first) == pytest.approx(1.0 - weight, abs=3e-9)
    assert np.isfinite(mixture_log_probabilities(first, second, weight=weight)).all()
    assert mixture_log_probabilities(first, second, weight=1.0)[0] == NEVER


def test_probabilities_too_small_for_a_float_are_mixed_by_their_logs() -> None:
    first, second = np.array([-2000.0, -1.0]), np.array([-2001.0, -3.0])
    assert best_weight(first, second) == 1.0
    mixed = mixture_log_probabilities(first, second, weight=0.5)
    assert mixed[0] == pytest.approx(-2000.0 + math.log(0.5 * (1.0 + math.exp(-1.0))), abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([], [], "on 0 tokens"),
        ([-1.0], [-1.0, -2.0], "1 and 2 came"),
        ([-1.0, 0.5], [-1.0, -2.0], r"token 1 has the log probabilities 0\.5 and -2\.0"),
        ([math.nan], [-1.0], "token 0 has the log probabilities nan"),
        ([-1.0, NEVER], [-2.0, NEVER], "token 1 is impossible in both"),
    ],
)
def test_what_has_no_best_weight_is_refused(first: list[float], second: list[float], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        best_weight(np.array(first), np.array(second))


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan])
def test_a_weight_that_is_no_share_is_refused(weight: float) -> None:
    with pytest.raises(MetricError, match="from 0 to 1"):
        mixture_log_probabilities(np.array([-1.0]), np.array([-2.0]), weight=weight)
