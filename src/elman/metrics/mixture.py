"""A mixture of two language models: one number that says how much of each, and what comes out."""

import numpy as np
import numpy.typing as npt
from scipy import optimize

from elman.errors import MetricError

FloatArray = npt.NDArray[np.float64]

_TOLERANCE = 1e-9  # of the weight
_ROUNDING = 1e-4  # nats that a float32 log probability may lie above 0


def mixture_log_probabilities(first: FloatArray, second: FloatArray, *, weight: float) -> FloatArray:
    """The log probability of every token under p = w p1 + (1 - w) p2.

    Adding probabilities, not logs, keeps the mixture a distribution: its probabilities of all tokens add up to 1 where
    those of both models do. A token that one model thinks impossible costs at most the log of the other's share.

    Args:
        first: float (N,). ln p1 of each token; minus infinity for what is impossible.
        second: float (N,). ln p2 of the same tokens.
        weight: w, from 0 to 1.

    Returns:
        float64 (N,). Nats.

    Raises:
        MetricError: The models have other numbers of tokens, or the weight is no share.

    Example:
        >>> mixed = mixture_log_probabilities(np.log([0.5, 0.2]), np.log([0.1, 0.6]), weight=0.25)
        >>> np.exp(mixed).round(12).tolist()
        [0.2, 0.5]
    """
    _check_same_tokens(first, second)
    if not 0.0 <= weight <= 1.0:
        raise MetricError(f"the weight of a mixture is a share from 0 to 1; {weight} came")
    if weight in (0.0, 1.0):
        return np.array(first if weight else second, np.float64)
    mixed: FloatArray = np.logaddexp(first + np.log(weight), second + np.log1p(-weight))
    return mixed


def best_weight(first: FloatArray, second: FloatArray) -> float:
    """The weight of the first model with which the mixture finds these tokens most probable.

    The mean of ln(w p1 + (1 - w) p2) is concave in w, so that its slope, the mean of (p1 - p2) / (w p1 + (1 - w) p2),
    falls from 0 to 1 and is halved in on, to 1e-9. Where the slope is nowhere above 0 the weight is 0, where it is
    nowhere below 0 it is 1. Models that give all tokens the same probabilities get 0: the first one adds nothing.

    Args:
        first: float (N,). ln p1 of each token; minus infinity for what is impossible.
        second: float (N,). ln p2 of the same tokens.

    Raises:
        MetricError: No tokens, other numbers of tokens, something that is no log probability, or a token that is
            impossible in both models, so that no weight is better than another.

    Example:
        >>> round(best_weight(np.log([0.5, 0.2]), np.log([0.1, 0.6])), 6)  # 0.1 + 0.4 w = 0.6 - 0.4 w
        0.625

    References:
        mikolov2012statistical in docs/references.bib, for mixtures of a recurrent network with Kneser-Ney.
    """
    _check_same_tokens(first, second)
    if len(first) == 0:
        raise MetricError("a mixture's weight cannot be chosen on 0 tokens: is the validation split empty?")
    wrong = ~((first <= _ROUNDING) & (second <= _ROUNDING))  # NaN is neither
    if wrong.any():
        place = int(np.argmax(wrong))
        raise MetricError(f"token {place} has the log probabilities {first[place]} and {second[place]}; they are <= 0")
    impossible = np.isneginf(first) & np.isneginf(second)
    if impossible.any():
        raise MetricError(f"token {int(np.argmax(impossible))} is impossible in both models, so that no mixture fits")
    ratio = first - second  # (N,) ln(p1 / p2)
    terms = np.expm1(-np.abs(ratio)), np.exp(-np.abs(ratio)), ratio > 0.0

    def slope(weight: float) -> float:
        return _slope(weight, *terms)

    if slope(0.0) <= 0.0:
        return 0.0
    if slope(1.0) >= 0.0:
        return 1.0
    return float(optimize.bisect(slope, 0.0, 1.0, xtol=_TOLERANCE))


def _slope(weight: float, gap: FloatArray, odds: FloatArray, first_is_larger: npt.NDArray[np.bool_]) -> float:
    """The mean of (p1 - p2) / (w p1 + (1 - w) p2), each term divided by the larger of the two probabilities.

    Args:
        weight: w.
        gap: float64 (N,). smaller / larger - 1.
        odds: float64 (N,). smaller / larger.
        first_is_larger: bool (N,). Which one is the larger.
    """
    of_larger = np.where(first_is_larger, weight, 1.0 - weight)
    with np.errstate(divide="ignore"):  # at the ends, a token that one model thinks impossible: the slope is infinite
        terms = np.where(first_is_larger, -gap, gap) / (of_larger + (1.0 - of_larger) * odds)
    return float(terms.mean())


def _check_same_tokens(first: FloatArray, second: FloatArray) -> None:
    if first.shape != second.shape:
        raise MetricError(f"a mixture needs both models on the same tokens; {len(first)} and {len(second)} came")
