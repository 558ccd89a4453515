"""Pooling over the real steps of a document."""

from typing import Any

import numpy as np
import pytest

from elman.layers.sequence_pooling import SequencePooling

SEQUENCE = np.array([[[1.0, -5.0], [4.0, -2.0], [99.0, 99.0]], [[2.0, 7.0], [99.0, 99.0], [99.0, 99.0]]], "float32")
MASK = np.array([[True, True, False], [True, False, False]])
LAST = np.array([[0.5, 0.6], [0.7, 0.8]], "float32")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("last", [[0.5, 0.6], [0.7, 0.8]]),
        ("mean", [[2.5, -3.5], [2.0, 7.0]]),
        ("max", [[4.0, -2.0], [2.0, 7.0]]),
        ("all", [[0.5, 0.6, 2.5, -3.5, 4.0, -2.0], [0.7, 0.8, 2.0, 7.0, 2.0, 7.0]]),
    ],
)
def test_real_steps_alone_are_pooled(mode: str, expected: Any) -> None:
    np.testing.assert_allclose(SequencePooling(mode)(SEQUENCE, last_state=LAST, padding_mask=MASK), expected)


@pytest.mark.parametrize("garbage", [np.nan, np.inf])
def test_padding_that_is_not_finite_does_not_reach_the_result(garbage: float) -> None:
    dirty = np.where(MASK[..., None], SEQUENCE, garbage).astype("float32")
    layer = SequencePooling("all")
    np.testing.assert_array_equal(
        layer(dirty, last_state=LAST, padding_mask=MASK), layer(SEQUENCE, last_state=LAST, padding_mask=MASK)
    )


def test_a_document_without_a_step_gives_zeros_for_mean_and_maximum() -> None:
    empty = np.zeros_like(MASK)
    pooled = np.asarray(SequencePooling("all")(SEQUENCE, last_state=LAST, padding_mask=empty))
    np.testing.assert_array_equal(pooled, np.concatenate([LAST, np.zeros((2, 4))], axis=1))


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="last, mean, max, all; came 'sum'"):
        SequencePooling("sum")
