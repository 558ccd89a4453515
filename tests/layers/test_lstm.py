"""Forget bias and numbers of weights."""

from typing import Any

import keras
import numpy as np
import pytest

from elman.errors import ConfigError
from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN


@pytest.mark.parametrize("value", [0.0, 1.0, 2.0, 2.5, -1.0])
def test_forget_gate_sees_the_bias_asked_for(value: float) -> None:
    layer = LSTM(5, forget_bias=value)
    layer.build((None, None, 3))
    np.testing.assert_array_equal(layer.forget_gate_bias, np.full(5, value, "float32"))
    others = np.delete(np.asarray(layer.cell.bias).reshape(4, 5), 1, axis=0)
    np.testing.assert_array_equal(others, 0.0)


def test_default_forget_bias_is_that_of_keras() -> None:
    ours, theirs = LSTM(5), keras.layers.LSTM(5)
    for layer in (ours, theirs):
        layer.build((None, None, 3))
    np.testing.assert_array_equal(ours.get_weights()[2], theirs.get_weights()[2])


def test_forget_bias_survives_config_and_bidirectional() -> None:
    layer = keras.layers.Bidirectional(LSTM(4, forget_bias=2.5))
    layer.build((None, None, 3))
    copy = keras.layers.Bidirectional.from_config(layer.get_config())
    copy.build((None, None, 3))
    for part in (layer.forward_layer, layer.backward_layer, copy.forward_layer, copy.backward_layer):
        assert part.forget_bias == 2.5
        np.testing.assert_array_equal(part.forget_gate_bias, np.full(4, 2.5, "float32"))


def test_bias_initializer_alone_decides_without_unit_forget_bias() -> None:
    layer = LSTM(4, unit_forget_bias=False, bias_initializer=keras.initializers.Constant(0.25))
    layer.build((None, None, 3))
    np.testing.assert_array_equal(layer.forget_gate_bias, 0.25)
    assert layer.get_config()["unit_forget_bias"] is False


def test_layer_without_bias_shows_the_gate_nothing() -> None:
    layer = LSTM(4, use_bias=False)
    layer.build((None, None, 3))
    np.testing.assert_array_equal(layer.forget_gate_bias, 0.0)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"forget_bias": float("nan")}, "forget_bias must be a finite number, got nan"),
        ({"forget_bias": 2.0, "unit_forget_bias": False}, "leave one of the two out"),
    ],
)
def test_forget_bias_without_meaning_is_refused(kwargs: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LSTM(4, **kwargs)


# An orthogonal matrix of 1,000 rows takes seconds to draw.
PLAIN: dict[str, Any] = {"recurrent_initializer": "zeros"}


def count(layer: Any, inputs: int) -> int:
    layer.build((None, None, inputs))
    return int(layer.count_params())


@pytest.mark.parametrize(("units", "inputs"), [(128, 64), (7, 3), (1000, 1000)])
def test_numbers_of_weights_follow_the_formulas(units: int, inputs: int) -> None:
    block = units * (units + inputs)
    assert count(SimpleRNN(units, **PLAIN), inputs) == block + units
    assert count(LSTM(units, **PLAIN), inputs) == 4 * (block + units)
    assert count(GRU(units, **PLAIN), inputs) == 3 * (block + 2 * units)


def test_numbers_of_weights_are_the_published_ones() -> None:
    # PyTorch keeps two bias vectors for each cell; Keras' SimpleRNN and LSTM keep one, its GRU two.
    assert count(SimpleRNN(128), 64) + 128 == 24_832
    assert count(GRU(128), 64) == 74_496
    assert count(LSTM(128), 64) + 4 * 128 == 99_328
    assert count(LSTM(1000, **PLAIN), 1000) == 8_004_000
    model = keras.Sequential([keras.Input((None, 100)), GRU(128), keras.layers.Dense(4)])
    assert model.count_params() == 88_836
