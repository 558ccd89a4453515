"""The layer contract for the recurrent layers, on the CPU kernel and on the generic loop."""

import keras
import pytest

from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN
from tests.helpers.layer_contract import LayerContract


class TestSimpleRNN(LayerContract):
    def make_layer(self) -> keras.layers.Layer:
        return SimpleRNN(7, return_sequences=True, return_state=True)


class TestLSTM(LayerContract):
    def make_layer(self) -> keras.layers.Layer:
        return LSTM(7, return_sequences=True, return_state=True, forget_bias=0.5)


class TestGRU(LayerContract):
    def make_layer(self) -> keras.layers.Layer:
        return GRU(7, return_sequences=True, return_state=True)


class TestLSTMOf1997(LayerContract):
    def make_layer(self) -> keras.layers.Layer:
        return LSTM(7, return_sequences=True, return_state=True, open_gates=("forget",))


class TestLastOutputOnly(LayerContract):
    def make_layer(self) -> keras.layers.Layer:
        return LSTM(7)


class TestBackwards(LayerContract):
    # Padding on the right comes first, and outputs stand in the order of reading: the last state is what to compare.
    def make_layer(self) -> keras.layers.Layer:
        return GRU(7, go_backwards=True)


class TestGenericLoop(LayerContract):
    def make_layer(self) -> keras.layers.Layer:
        return LSTM(7, loop="generic", return_sequences=True)


class TestBidirectional(LayerContract):
    not_in_config = frozenset({"weights"})  # Keras keeps weights in the file, not in the config.

    def make_layer(self) -> keras.layers.Layer:
        return keras.layers.Bidirectional(LSTM(4, return_sequences=True))


@pytest.mark.parametrize("cls", [SimpleRNN, LSTM, GRU])
def test_weights_and_config_are_those_of_the_keras_layer(cls: type[keras.layers.RNN]) -> None:
    ours, theirs = cls(6, name="layer"), getattr(keras.layers, cls.__name__)(6, name="layer")
    ours.build((None, None, 3))
    theirs.build((None, None, 3))
    assert [(w.path, w.shape) for w in ours.weights] == [(w.path, w.shape) for w in theirs.weights]
    own = set(ours.get_config()) - set(theirs.get_config())
    assert own <= {"loop", "forget_bias", "open_gates", "use_cudnn", "implementation", "seed"}
    assert {name: ours.get_config()[name] for name in theirs.get_config() if name != "dtype"} == {
        name: value for name, value in theirs.get_config().items() if name != "dtype"
    }
