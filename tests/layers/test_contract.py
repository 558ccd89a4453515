"""The layer contract for every public layer, the recurrent ones on the CPU kernel and on the generic loop."""

from typing import Any, ClassVar

import keras
import numpy as np
import pytest

from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.sequence_pooling import SequencePooling
from elman.layers.simple_rnn import SimpleRNN
from elman.layers.word_dropout import WordDropout
from tests.helpers.layer_contract import Arrays, LayerContract


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


class TestGenericLoopOfSimpleRNN(LayerContract):
    def make_layer(self) -> keras.layers.Layer:
        return SimpleRNN(7, loop="generic", return_sequences=True, return_state=True)


class TestResetBeforeTheProduct(LayerContract):
    def make_layer(self) -> keras.layers.Layer:
        return GRU(7, reset_after=False, return_sequences=True, return_state=True)


class TestBidirectional(LayerContract):
    not_in_config = frozenset({"weights"})  # Keras keeps weights in the file, not in the config.

    def make_layer(self) -> keras.layers.Layer:
        return keras.layers.Bidirectional(LSTM(4, return_sequences=True))


class PoolingContract(LayerContract):
    sequence_argument = "sequence"
    mask_argument = "padding_mask"
    mode: ClassVar[str]

    def make_layer(self) -> keras.layers.Layer:
        return SequencePooling(self.mode)

    def more_inputs(self, batch: int) -> Arrays:
        return {"last_state": np.random.default_rng(1).normal(size=(batch, self.features)).astype("float32")}


class TestLastState(PoolingContract):
    mode = "last"


class TestMean(PoolingContract):
    mode = "mean"


class TestMaximum(PoolingContract):
    mode = "max"


class TestAllThree(PoolingContract):
    mode = "all"


class TestWordDropout(LayerContract):
    sequence_argument = "token_ids"
    mask_argument = None  # padding is told by its id

    def make_layer(self) -> keras.layers.Layer:
        return WordDropout(rate=0.5, vocab_size=20, unk_id=2, first_id=3, seed=4)

    def inputs(self, *, batch: int = 4, length: int = 6, seed: int = 0) -> Arrays:
        return {"token_ids": np.random.default_rng(seed).integers(0, 20, (batch, length)).astype("int32")}


def test_every_public_layer_has_a_contract() -> None:
    """A layer that is added to the package without one is named here."""
    import importlib
    import pkgutil

    import elman.layers

    modules = [importlib.import_module(f"elman.layers.{m.name}") for m in pkgutil.iter_modules(elman.layers.__path__)]
    public: set[Any] = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, keras.layers.Layer) and value.__module__ == module.__name__
    }
    tested = {type(case().make_layer()) for case in _all_subclasses(LayerContract) if case.__name__.startswith("Test")}
    assert {layer for layer in public if keras.saving.get_registered_name(layer) != layer.__name__} <= tested


def _all_subclasses(cls: Any) -> set[Any]:
    return set(cls.__subclasses__()).union(*[_all_subclasses(child) for child in cls.__subclasses__()])


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
