import numpy as np
import pytest

from elman.errors import MetricError
from elman.retraining.document_scores import DocumentScores


def classifier(ids: list[int], labels: list[int], predicted: list[int]) -> DocumentScores:
    return DocumentScores(ids=np.array(ids), labels=np.array(labels), predicted=np.array(predicted))


def test_scores_of_a_model_are_put_in_the_order_of_the_other_ones_documents() -> None:
    first = classifier([7, 3, 9], [0, 1, 2], [0, 1, 1])
    second = classifier([9, 7, 3], [2, 0, 1], [2, 1, 0])
    moved = second.in_order_of(first)
    assert moved.ids.tolist() == [7, 3, 9]
    assert moved.predicted.tolist() == [1, 0, 2]
    assert moved.right.tolist() == [False, False, True]


def test_a_test_set_has_one_name_whatever_its_order_and_the_model() -> None:
    first = classifier([7, 3], [0, 1], [0, 0])
    assert first.test_hash == classifier([3, 7], [1, 0], [1, 1]).test_hash
    assert first.test_hash != classifier([3, 7], [0, 1], [0, 0]).test_hash
    assert first.test_hash != classifier([3, 8], [1, 0], [1, 0]).test_hash


def test_other_documents_are_refused_with_their_numbers() -> None:
    first = classifier([1, 2, 3], [0, 1, 0], [0, 1, 0])
    with pytest.raises(MetricError, match="3 and 2 came, 2 of them with the same id"):
        classifier([1, 3], [0, 0], [0, 0]).in_order_of(first)
    with pytest.raises(MetricError, match="3 of them with the same id, but with other labels or bytes"):
        classifier([1, 2, 3], [0, 1, 1], [0, 1, 0]).in_order_of(first)


def test_a_classifier_is_not_held_against_a_language_model() -> None:
    text = DocumentScores(ids=np.array([1]), nll_nats=np.array([3.0]), num_bytes=np.array([9]))
    with pytest.raises(MetricError, match="one task"):
        text.in_order_of(classifier([1], [0], [0]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"ids": [], "labels": [], "predicted": []}, "none came"),
        ({"ids": [1, 1], "labels": [0, 0], "predicted": [0, 0]}, "scored once"),
        ({"ids": [1, 2], "labels": [0, 0], "predicted": [0]}, "predicted has the shape"),
        ({"ids": [1], "labels": [0]}, "labels came"),
        ({"ids": [1]}, "neither came"),
        ({"ids": [1, 2], "labels": [0, -1], "predicted": [0, 0]}, "1 of 2 test documents have no label"),
        ({"ids": [1], "nll_nats": [2.0], "num_bytes": [0]}, "no bytes"),
    ],
)
def test_what_is_no_models_scores_is_refused(columns: dict[str, list[float]], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        DocumentScores(**{name: np.array(values) for name, values in columns.items()})
