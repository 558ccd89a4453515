import numpy as np
import pytest

from elman.baselines.majority import score_majority
from elman.errors import MetricError


def test_the_most_frequent_class_of_train_is_answered_whatever_test_holds() -> None:
    # Class 2 is answered 5 times and right once: its F1 is 2 * 1 / (1 + 5), and those of the other two classes are 0.
    score = score_majority(train=np.array([2, 2, 0, 1, 2]), test=np.array([0, 0, 1, 2, 0]), num_classes=3)
    assert score.class_id == 2
    assert score.accuracy == pytest.approx(0.2)
    assert score.macro_f1 == pytest.approx((1 / 3) / 3)


def test_of_equally_frequent_classes_the_smallest_id_is_taken() -> None:
    assert score_majority(train=np.array([3, 1, 1, 3]), test=np.array([3]), num_classes=4).class_id == 1


@pytest.mark.parametrize("train", [[], [-1, -1]])
def test_a_split_without_labels_is_refused(train: list[int]) -> None:
    with pytest.raises(MetricError, match="train holds"):
        score_majority(train=np.array(train, np.int32), test=np.array([0]), num_classes=2)
