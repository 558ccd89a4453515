"""The layers against cells written from their equations in NumPy, and against worked values."""

from collections.abc import Callable
from functools import partial
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN
from tests.helpers import numpy_cells

B, T, D, U = 5, 7, 3, 6
OPEN = 1e4  # a bias at which a gate is 1, or 0 with a minus


def elman_layer(**kwargs: Any) -> keras.layers.Layer:
    return SimpleRNN(U, **kwargs)


def lstm_layer(**kwargs: Any) -> keras.layers.Layer:
    return LSTM(U, **kwargs)


def open_layer(gate: str) -> Callable[..., keras.layers.Layer]:
    return partial(LSTM, U, open_gates=(gate,))


def gru_before_layer(**kwargs: Any) -> keras.layers.Layer:
    return GRU(U, reset_after=False, **kwargs)


def gru_after_layer(**kwargs: Any) -> keras.layers.Layer:
    return GRU(U, **kwargs)


CASES: list[Any] = [
    pytest.param(elman_layer, numpy_cells.elman, id="elman"),
    pytest.param(lstm_layer, numpy_cells.lstm, id="lstm"),
    pytest.param(open_layer("forget"), numpy_cells.lstm_1997, id="lstm of 1997, f = 1"),
    pytest.param(open_layer("input"), partial(numpy_cells.lstm, open_gates=("i",)), id="lstm, i = 1"),
    pytest.param(open_layer("output"), partial(numpy_cells.lstm, open_gates=("o",)), id="lstm, o = 1"),
    pytest.param(gru_before_layer, numpy_cells.gru_reset_before, id="gru, reset before the product"),
    pytest.param(gru_after_layer, numpy_cells.gru_reset_after, id="gru, reset after the product"),
]


def random_case(layer: keras.layers.Layer) -> tuple[Any, ...]:
    """Random, non-symmetric weights, inputs, states and a mask with an empty and a short row."""
    rng = np.random.default_rng(11)
    layer.build((None, None, D))
    weights = [rng.normal(size=w.shape) * 0.6 for w in layer.weights]
    layer.set_weights(weights)
    x = rng.normal(size=(B, T, D))
    states = tuple(rng.normal(size=(B, U)) * 0.5 for _ in layer.state_size)
    lengths = np.array([T, 1, 4, 0, T - 1])
    return x, states, weights, np.arange(T) < lengths[:, None]


@pytest.mark.parametrize(("make", "cell"), CASES)
@pytest.mark.parametrize(
    ("dtype", "loop", "tolerance"),
    [("float64", "auto", 1e-12), ("float32", "auto", 1e-5), ("float32", "generic", 1e-5)],
)
def test_layer_equals_its_equations(
    make: Callable[..., Any], cell: numpy_cells.Cell, dtype: str, loop: str, tolerance: float
) -> None:
    layer = make(dtype=dtype, loop=loop, return_sequences=True, return_state=True)
    x, states, weights, mask = random_case(layer)
    outputs, *last = layer(x.astype(dtype), mask=tf.constant(mask), initial_state=[s.astype(dtype) for s in states])
    expected_outputs, expected_last = numpy_cells.run(cell, x, states, weights, mask)
    np.testing.assert_allclose(outputs, expected_outputs, rtol=0, atol=tolerance)
    for state, expected in zip(last, expected_last, strict=True):
        np.testing.assert_allclose(state, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("make", "cell"), CASES)
def test_layer_read_backwards_equals_its_equations(make: Callable[..., Any], cell: numpy_cells.Cell) -> None:
    layer = make(go_backwards=True, return_sequences=True, return_state=True)
    x, states, weights, mask = random_case(layer)
    outputs, *last = layer(x.astype("f4"), mask=tf.constant(mask), initial_state=[s.astype("f4") for s in states])
    expected_outputs, expected_last = numpy_cells.run(cell, x[:, ::-1], states, weights, mask[:, ::-1])
    np.testing.assert_allclose(outputs, expected_outputs, rtol=0, atol=1e-5)
    for state, expected in zip(last, expected_last, strict=True):
        np.testing.assert_allclose(state, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("loop", ["auto", "generic"])
@pytest.mark.parametrize(("recurrent", "expected"), [(0.5, [0.762, 0.363, 0.180]), (2.0, [0.762, 0.909, 0.949])])
def test_scalar_rnn_gives_the_worked_values(loop: str, recurrent: float, expected: list[float]) -> None:
    layer = SimpleRNN(1, use_bias=False, return_sequences=True, loop=loop)
    layer.build((None, None, 1))
    layer.set_weights([np.array([[1.0]]), np.array([[recurrent]])])
    outputs = layer(np.array([[[1.0], [0.0], [0.0]]], "float32"))
    np.testing.assert_allclose(np.asarray(outputs).ravel(), expected, atol=5e-4)


@pytest.mark.parametrize("loop", ["auto", "generic"])
def test_one_unit_lstm_step_gives_the_worked_values(loop: str) -> None:
    def step(c_before: float, **kwargs: Any) -> tuple[float, float]:
        layer = LSTM(1, return_state=True, loop=loop, **kwargs)
        layer.build((None, None, 1))
        # on x, on h, bias; gates i, f, g, o
        layer.set_weights(
            [np.array([[-0.2, 0.6, 0.8, 0.7]]), np.array([[0.3, 0.4, 0.5, 0.1]]), np.array([0.0, 1.0, 0.0, 0.0])]
        )
        states = [np.array([[0.5]], "float32"), np.array([[c_before]], "float32")]
        _, h, c = layer(np.array([[[1.0]]], "float32"), initial_state=states)
        return np.asarray(h).item(), np.asarray(c).item()

    h, c = step(2.0)
    _, written = step(0.0)  # i g
    _, g = step(0.0, open_gates=("input",))
    f, i, o = (c - written) / 2.0, written / g, h / np.tanh(c)
    np.testing.assert_allclose([f, i, g, o, c, h], [0.858, 0.488, 0.782, 0.679, 2.097, 0.659], atol=5e-4)


@pytest.mark.parametrize("loop", ["auto", "generic"])
@pytest.mark.parametrize(
    ("forget", "write", "candidate", "expected"),
    [(1.0, 0.0, 0.5, 2.0), (0.9, 0.8, 0.5, 2.2), (0.0, 1.0, 0.8, 0.8)],
    ids=["keep", "mix", "erase and write"],
)
def test_cell_keeps_mixes_or_erases(loop: str, forget: float, write: float, candidate: float, expected: float) -> None:
    """c = f c' + i g with c' = 2 and the gates set by their biases alone."""

    def logit(p: float) -> float:
        return float(np.log(p / (1 - p))) if 0 < p < 1 else (OPEN if p else -OPEN)

    layer = LSTM(1, return_state=True, loop=loop)
    layer.build((None, None, 1))
    layer.set_weights(
        [np.zeros((1, 4)), np.zeros((1, 4)), np.array([logit(write), logit(forget), np.arctanh(candidate), 0])]
    )
    _, _, c = layer(np.zeros((1, 1, 1), "float32"), initial_state=[np.zeros((1, 1), "f4"), np.full((1, 1), 2.0, "f4")])
    np.testing.assert_allclose(np.asarray(c).item(), expected, atol=1e-5)
