"""Percentile bootstrap over documents, with one set of draws for all systems, so that their differences are paired."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import MetricError

FloatArray = npt.NDArray[np.float64]

RESAMPLES = 2000
_BLOCK_VALUES = 4_000_000  # float64 weights held at a time: 32 MB
_DRAWS = 500_000  # documents drawn and counted at a time


class Bootstrapped(NamedTuple):
    """What resampling says of one figure; the last four are None where one document says nothing about the spread.

    Attributes:
        value: The figure on the documents as they are.
        low: Lower end of the percentile interval.
        high: Upper end.
        standard_error: Standard deviation over resamples.
        p_value: Two-sided, for the value 0; 1 where every resample gives 0.
    """

    value: float
    low: float | None
    high: float | None
    standard_error: float | None
    p_value: float


def resampled_totals(columns: Any, *, resamples: int = RESAMPLES, seed: int = 1, size: int | None = None) -> FloatArray:
    """Totals of per-document sums and counts over documents drawn with replacement.

    A measure is a ratio of totals (nats and bytes, hits and documents, cells of a confusion matrix). The totals are
    resampled, and divided once afterwards; a mean of the documents' own ratios would be another measure.
    For r = 1..resamples, w_r is a draw of N documents out of N and the row r is sum over i of w_ri * columns_i.

    Args:
        columns: (N, K). A float64 array or a scipy sparse matrix; one row a document.
        resamples: How often to draw.
        seed: Of the draws. The same seed, N and size give the same draws, whatever the columns are.
        size: How many documents a draw takes; None: N.

    Returns:
        float64 (resamples, K).

    Raises:
        MetricError: No documents or fewer than one resample.

    Example:
        >>> totals = resampled_totals(np.array([[2.0, 1.0], [4.0, 1.0]]), resamples=3, seed=1)
        >>> totals.shape, totals[:, 1].tolist()
        ((3, 2), [2.0, 2.0, 2.0])

    References:
        efron1979bootstrap, koehn2004statistical in docs/references.bib.
    """
    documents, width = columns.shape
    drawn = documents if size is None else size
    if documents == 0 or resamples < 1 or drawn < 1:
        raise MetricError(f"a bootstrap needs a document and a resample; {documents} and {resamples} came")
    random = np.random.default_rng(seed)
    transposed = columns.T.tocsr() if hasattr(columns, "tocsr") else np.ascontiguousarray(columns.T)  # (K, N)
    totals = np.empty((resamples, width))
    block = max(1, _BLOCK_VALUES // documents)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        weights = np.empty((rows, documents))  # (rows, N)
        step = max(1, _DRAWS // max(documents, drawn))
        for first in range(0, rows, step):
            part = weights[first : first + step]
            draws = random.integers(documents, size=(len(part), drawn))
            draws += documents * np.arange(len(part))[:, None]  # each row counts for itself
            part[:] = np.bincount(draws.ravel(), minlength=part.size).reshape(part.shape)
        totals[start : start + rows] = (transposed @ weights.T).T
    return totals


def bootstrapped(value: float, resampled: FloatArray, *, documents: int, level: float = 0.95) -> Bootstrapped:
    """Percentile interval, standard error and p of a figure from its resampled values.

    The interval runs from the (1 - level) / 2 to the (1 + level) / 2 quantile. With R resamples, p is
    2 * (1 + min(#(x <= 0), #(x >= 0))) / (R + 1), at most 1: the level at which the interval would just touch 0.

    Args:
        value: The figure on the documents as they are, such as a difference of two systems.
        resampled: float64 (resamples,).
        documents: How many documents were drawn from.
        level: Share of such intervals that hold the true figure.

    Raises:
        MetricError: A value is not finite, or the level is not between 0 and 1.

    Example:
        >>> bootstrapped(2.0, np.array([1.0, 2.0, 3.0]), documents=9, level=0.5)
        Bootstrapped(value=2.0, low=1.5, high=2.5, standard_error=1.0, p_value=0.5)
    """
    if not 0.0 < level < 1.0:
        raise MetricError(f"the level of an interval is a share between 0 and 1, such as 0.95; {level} came")
    if not (np.isfinite(value) and np.isfinite(resampled).all()):
        raise MetricError("a bootstrap needs finite figures; one of them is not: are the scores finite?")
    if documents < 2:
        return Bootstrapped(value, None, None, None, 1.0)
    low, high = np.quantile(resampled, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    side = min(int((resampled <= 0).sum()), int((resampled >= 0).sum()))
    p_value = min(1.0, 2.0 * (1 + side) / (len(resampled) + 1))
    error = float(resampled.std(ddof=1)) if len(resampled) > 1 else 0.0
    return Bootstrapped(value, float(low), float(high), error, p_value)
