"""The classifier that always answers the most frequent class: what a network has to beat first."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import MetricError
from elman.metrics.classification import accuracy, macro_f1

IntArray = npt.NDArray[np.integer]


class MajorityScore(NamedTuple):
    """The class that is always answered, and how good that is."""

    class_id: int
    accuracy: float
    macro_f1: float


def score_majority(*, train: IntArray, test: IntArray, num_classes: int) -> MajorityScore:
    """Scores the most frequent class of train on test; of equally frequent ones the smallest id is taken.

    Args:
        train: int (N,). Labels of the train split.
        test: int (M,). Labels of the split that is scored.
        num_classes: C.

    Raises:
        MetricError: A split is empty or holds documents without a label.

    Example:
        >>> score_majority(train=np.array([1, 1, 0]), test=np.array([1, 0, 1, 1]), num_classes=2)
        MajorityScore(class_id=1, accuracy=0.75, macro_f1=0.42857142857142855)
    """
    for name, labels in (("train", train), ("test", test)):
        if len(labels) == 0 or labels.min() < 0:
            missing = int(np.sum(labels < 0))
            raise MetricError(
                f"the majority class needs labels: {name} holds {len(labels)} documents, {missing} of them without"
            )
    chosen = int(np.argmax(np.bincount(train, minlength=num_classes)))
    predicted = np.full(len(test), chosen)
    return MajorityScore(chosen, accuracy(test, predicted), macro_f1(test, predicted, num_classes))
