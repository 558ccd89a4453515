import keras
import numpy as np
import pytest

from elman.diagnostics.gate_values import gate_values
from elman.errors import ConfigError
from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN

LAYERS = {
    "simple_rnn": lambda: SimpleRNN(6, return_sequences=True),
    "lstm": lambda: LSTM(6, return_sequences=True),
    "lstm of 1997": lambda: LSTM(6, open_gates=("forget",), return_sequences=True),
    "lstm without biases": lambda: LSTM(6, use_bias=False, return_sequences=True),
    "gru": lambda: GRU(6, return_sequences=True),
    "gru, reset before": lambda: GRU(6, reset_after=False, return_sequences=True),
}


def with_random_weights(layer):
    layer.build((None, None, 4))
    generator = np.random.default_rng(3)
    layer.set_weights([generator.normal(0, 0.7, weight.shape) for weight in layer.get_weights()])
    return layer


@pytest.mark.parametrize("name", LAYERS)
def test_the_gates_belong_to_the_outputs_that_the_layer_gives(name):
    layer = with_random_weights(LAYERS[name]())
    inputs = np.random.default_rng(4).standard_normal((25, 4)).astype(np.float32)
    values = gate_values(layer, inputs)
    np.testing.assert_allclose(values.output, np.asarray(layer(inputs[None]))[0], atol=2e-5)
    assert all(gate.shape == (25, 6) and gate.min() >= 0 and gate.max() <= 1 for gate in values.gates.values())


def test_the_gates_of_an_lstm_stand_under_their_names():
    layer = LSTM(2)
    layer.build((None, None, 1))
    biases = np.repeat([-2.0, 1.5, 0.0, 0.4], 2)  # input, forget, candidate, output
    layer.set_weights([np.zeros((1, 8)), np.zeros((2, 8)), biases])
    gates = gate_values(layer, np.ones((3, 1))).gates
    for name, bias in (("input", -2.0), ("forget", 1.5), ("output", 0.4)):
        np.testing.assert_allclose(gates[name], 1 / (1 + np.exp(-bias)), rtol=1e-6)


def test_a_gate_that_is_held_open_is_one():
    values = gate_values(with_random_weights(LAYERS["lstm of 1997"]()), np.ones((5, 4)))
    assert (values.gates["forget"] == 1.0).all()


def test_another_layer_is_refused_by_name():
    layer = keras.layers.LSTM(3)
    layer.build((None, None, 2))
    with pytest.raises(ConfigError, match="SimpleRNN, LSTM and GRU of elman"):
        gate_values(layer, np.ones((2, 2)))


def test_other_activations_are_refused():
    layer = LSTM(3, activation="relu")
    layer.build((None, None, 2))
    with pytest.raises(ConfigError, match="relu"):
        gate_values(layer, np.ones((2, 2)))
