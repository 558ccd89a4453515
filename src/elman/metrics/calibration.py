"""Whether a classifier's probabilities mean what they say: reliability, its error, the temperature that mends it."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from elman.errors import MetricError

FloatArray = npt.NDArray[np.float64]

BINS = 15  # of equal width, as in guo2017calibration
_LOG_TEMPERATURES = (-4.0, 4.0)  # from 1/55 to 55; what lies beyond is a classifier that is always or never sure


class Reliability(NamedTuple):
    """Documents by the probability of their predicted class; one entry a bin of equal width over 0..1.

    Attributes:
        documents: int64 (BINS,). How many.
        confidence: float64 (BINS,). Mean probability of the predicted class; 0 in an empty bin.
        accuracy: float64 (BINS,). Share of them that are right; 0 in an empty bin.
    """

    documents: npt.NDArray[np.int64]
    confidence: FloatArray
    accuracy: FloatArray


def confidence_bins(probability: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
    """The bin, 0 to BINS - 1, of each probability of a predicted class; bins are open below and closed above.

    Raises:
        MetricError: A value is no probability.
    """
    values = np.asarray(probability, np.float64)
    if not ((values >= 0.0) & (values <= 1.0 + 1e-6)).all():  # NaN is refused too
        raise MetricError("a probability lies outside 0 to 1: these are not the scores of a classifier")
    return np.clip(np.ceil(values * BINS).astype(np.int64) - 1, 0, BINS - 1)


def reliability(probability: npt.NDArray[np.floating], right: npt.NDArray[np.bool_]) -> Reliability:
    """What a reliability figure draws.

    Args:
        probability: float (N,). Of each document's predicted class.
        right: bool (N,). Whether that class is the label.

    Raises:
        MetricError: No documents, or a value is no probability.

    Example:
        >>> found = reliability(np.array([0.95, 0.95, 0.5]), np.array([True, False, True]))
        >>> found.documents[[7, 14]].tolist(), found.accuracy[[7, 14]].tolist()
        ([1, 2], [1.0, 0.5])
    """
    if len(probability) == 0:
        raise MetricError("calibration needs at least one document: is the split empty?")
    bins = confidence_bins(probability)
    count = np.bincount(bins, minlength=BINS)
    sums = [
        np.bincount(bins, weights=np.asarray(values, np.float64), minlength=BINS) for values in (probability, right)
    ]
    whole = np.maximum(count, 1)
    return Reliability(count, sums[0] / whole, sums[1] / whole)


def expected_calibration_error(found: Reliability) -> float:
    """Mean distance of confidence and accuracy: sum over bins of documents / N * |accuracy - confidence|.

    0 where of the documents that get probability p a share of p is right. It needs many documents: with few in a bin
    chance alone makes it positive.

    Example:
        >>> round(expected_calibration_error(reliability(np.array([0.8, 0.8]), np.array([True, False]))), 6)
        0.3

    References:
        naeini2015obtaining, guo2017calibration in docs/references.bib.
    """
    return float((found.documents / found.documents.sum()) @ np.abs(found.accuracy - found.confidence))


def scaled(log_probabilities: npt.NDArray[np.floating], temperature: float) -> FloatArray:
    """Log-probabilities (N, C) of softmax(logits / temperature); the predicted class stays the same."""
    logits = np.asarray(log_probabilities, np.float64) / temperature
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))


def fit_temperature(log_probabilities: npt.NDArray[np.floating], labels: npt.NDArray[np.integer]) -> float:
    """The temperature with the lowest mean negative log-likelihood, to be found on validation and used on test.

    Above 1 the classifier is too sure of itself, below 1 not sure enough. The loss is convex in 1 / temperature, so
    that the one minimum is found; where a split is classified without a mistake it lies at the lower end of the range,
    1/55.

    Args:
        log_probabilities: float (N, C). Of the classifier as it is.
        labels: int (N,).

    Raises:
        MetricError: No documents.

    References:
        guo2017calibration in docs/references.bib.
    """
    if len(labels) == 0:
        raise MetricError("a temperature needs at least one document: is the validation split empty?")
    rows = np.arange(len(labels))

    def loss(log_temperature: float) -> float:
        return -float(scaled(log_probabilities, float(np.exp(log_temperature)))[rows, labels].mean())

    best = minimize_scalar(loss, bounds=_LOG_TEMPERATURES, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x))
