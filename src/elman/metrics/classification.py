"""Accuracy, macro-F1 and the per-class table, all from one confusion matrix."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import MetricError

MEASURES = ("accuracy", "macro_f1", "nll_nats_per_document")

IntArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]


class PerClass(NamedTuple):
    """One float64 array (C,) a measure; a class that never occurs and is never predicted has F1 0."""

    precision: FloatArray
    recall: FloatArray
    f1: FloatArray
    support: npt.NDArray[np.int64]


def confusion_matrix(actual: IntArray, predicted: IntArray, num_classes: int) -> npt.NDArray[np.int64]:
    """Counts of (actual, predicted) pairs.

    Args:
        actual: int (N,). The labels.
        predicted: int (N,). The model's choice.
        num_classes: C.

    Returns:
        int64 (C, C): rows are actual classes, columns predicted ones.

    Raises:
        MetricError: No examples, arrays of different lengths, or an id outside 0..C-1.

    Example:
        >>> confusion_matrix(np.array([0, 1, 1]), np.array([0, 0, 1]), 2).tolist()
        [[1, 0], [1, 1]]
    """
    if len(actual) == 0:
        raise MetricError("a classifier cannot be scored on 0 documents: is the split empty?")
    if len(actual) != len(predicted):
        raise MetricError(f"{len(actual)} labels but {len(predicted)} predictions")
    both = np.concatenate([actual, predicted])
    if both.min() < 0 or both.max() >= num_classes:
        raise MetricError(f"class ids must be 0 to {num_classes - 1}; found {both.min()} to {both.max()}")
    pairs = np.asarray(actual, np.int64) * num_classes + np.asarray(predicted, np.int64)
    return np.bincount(pairs, minlength=num_classes * num_classes).reshape(num_classes, num_classes)


def accuracy(actual: IntArray, predicted: IntArray) -> float:
    """The share of documents whose class was chosen."""
    classes = int(max(np.max(actual, initial=0), np.max(predicted, initial=0))) + 1
    return float(np.trace(confusion_matrix(actual, predicted, classes)) / len(actual))


def per_class(actual: IntArray, predicted: IntArray, num_classes: int) -> PerClass:
    """Precision, recall and F1 = 2 TP / (2 TP + FP + FN) of each class."""
    matrix = confusion_matrix(actual, predicted, num_classes)
    hits = np.diag(matrix).astype(np.float64)
    support, chosen = matrix.sum(axis=1), matrix.sum(axis=0)
    return PerClass(
        precision=_share(hits, chosen),
        recall=_share(hits, support),
        f1=_share(2 * hits, support + chosen),
        support=support,
    )


def macro_f1(actual: IntArray, predicted: IntArray, num_classes: int) -> float:
    """The plain mean of F1 over the classes that occur in `actual` or `predicted`.

    A class that is in neither has no F1; counting it as 0 would punish a split for the classes it lacks. This is what
    scikit-learn's `f1_score(average="macro")` does.
    """
    table = per_class(actual, predicted, num_classes)
    present = np.union1d(actual, predicted)
    return float(table.f1[present].mean())


def _share(part: FloatArray, whole: npt.NDArray[np.int64]) -> FloatArray:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
