import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from elman.errors import MetricError
from elman.metrics.classification import accuracy, confusion_matrix, macro_f1, per_class

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


@settings(max_examples=30)  # scikit-learn takes its time
@given(pairs)
def test_measures_equal_those_of_scikit_learn(rows):
    actual, predicted = (np.array(column) for column in zip(*rows, strict=True))
    assert accuracy(actual, predicted) == pytest.approx(accuracy_score(actual, predicted))
    assert macro_f1(actual, predicted, 5) == pytest.approx(
        f1_score(actual, predicted, average="macro", zero_division=0)
    )
    expected = precision_recall_fscore_support(actual, predicted, labels=range(5), zero_division=0)
    for ours, theirs in zip(per_class(actual, predicted, 5), expected, strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_rows_of_the_confusion_matrix_are_actual_classes():
    matrix = confusion_matrix(np.array([0, 0, 2]), np.array([1, 0, 2]), 3)
    assert matrix.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_an_empty_split_is_an_error():
    with pytest.raises(MetricError, match="0 documents"):
        accuracy(np.array([], int), np.array([], int))


def test_an_id_outside_the_classes_is_an_error():
    with pytest.raises(MetricError, match="0 to 1"):
        confusion_matrix(np.array([0, 2]), np.array([0, 1]), 2)
