"""LSTM gates held open: what they are, what they learn, what is refused."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.errors import ConfigError
from elman.layers.kernels.activations import sigmoid
from elman.layers.lstm import LSTM

B, T, D, U = 4, 9, 3, 5
COLUMNS = {"input": slice(0, U), "forget": slice(U, 2 * U), "output": slice(3 * U, 4 * U)}
SETS = [("input",), ("forget",), ("output",), ("input", "forget", "output")]


def built(**kwargs: Any) -> LSTM:
    layer = LSTM(U, return_sequences=True, return_state=True, **kwargs)
    layer.build((None, None, D))
    rng = np.random.default_rng(3)
    layer.set_weights([rng.normal(size=w.shape) for w in layer.weights])
    return layer


def inputs(dtype: str = "float32") -> tf.Tensor:
    return tf.constant(np.random.default_rng(4).normal(size=(B, T, D)) * 3, dtype)


@pytest.mark.parametrize("loop", ["auto", "generic"])
@pytest.mark.parametrize("open_gates", SETS, ids="+".join)
def test_open_gates_learn_nothing_and_the_others_do(open_gates: tuple[str, ...], loop: str) -> None:
    layer = built(open_gates=open_gates, loop=loop)
    assert layer.kernel_plan().name == ("CPU kernel" if loop == "auto" else "generic loop")
    with tf.GradientTape() as tape:
        loss = sum(tf.reduce_sum(tf.sin(part)) for part in layer(inputs(), training=True))
    for gradient in map(np.asarray, tape.gradient(loss, [w.value for w in layer.trainable_weights])):
        assert np.isfinite(gradient).all()
        for gate, columns in COLUMNS.items():
            assert (np.abs(gradient[..., columns]).max() > 0) == (gate not in open_gates)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_the_sigmoid_of_an_open_gate_is_exactly_one(dtype: str) -> None:
    layer = built(open_gates=("input", "forget", "output"), dtype=dtype)
    seen = layer.cell.bias
    for columns in COLUMNS.values():
        np.testing.assert_array_equal(keras.activations.sigmoid(seen[columns]), np.ones(U))


def test_the_kernels_sigmoid_of_an_open_gate_is_one_up_to_rounding() -> None:
    opened = sigmoid(np.float32(100.0))
    assert 1.0 - opened <= np.finfo(np.float32).eps


@pytest.mark.parametrize("loop", ["auto", "generic"])
def test_a_memory_without_forget_gate_keeps_what_it_holds(loop: str) -> None:
    """With the input gate shut by its bias, c stays at its start for 500 steps."""
    layer = built(open_gates=("forget",), loop=loop)
    kernel, recurrent, bias = layer.get_weights()
    bias[:U] = -1e4
    kernel[:, :U] = recurrent[:, :U] = 0.0
    layer.set_weights([kernel, recurrent, bias])
    start = np.random.default_rng(5).normal(size=(1, U)).astype("float32")
    _, _, c = layer(np.zeros((1, 500, D), "float32"), initial_state=[np.zeros((1, U), "float32"), start])
    np.testing.assert_allclose(c, start, rtol=0 if loop == "generic" else 1e-4, atol=0 if loop == "generic" else 1e-4)


@pytest.mark.parametrize("loop", ["auto", "generic"])
def test_config_and_file_keep_the_gates_open(loop: str, tmp_path: Path) -> None:
    layer = keras.layers.Bidirectional(LSTM(U, open_gates=("forget",), loop=loop))
    model = keras.Sequential([keras.Input((None, D)), layer])
    model.set_weights([np.random.default_rng(6).normal(size=w.shape) for w in model.weights])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.layers[0].forward_layer.open_gates == ("forget",)
    np.testing.assert_array_equal(model(inputs()), loaded(inputs()))


def test_weights_are_those_of_the_plain_layer() -> None:
    plain, opened = LSTM(U, name="layer"), LSTM(U, name="layer", open_gates=("output", "input"))
    for layer in (plain, opened):
        layer.build((None, None, D))
    assert opened.open_gates == ("input", "output")
    assert [(w.path, w.shape) for w in opened.weights] == [(w.path, w.shape) for w in plain.weights]


def test_training_leaves_the_weights_of_an_open_gate_as_they_are() -> None:
    layer = LSTM(U, open_gates=("forget",))
    model = keras.Sequential([keras.Input((T, D)), layer])
    model.compile("adam", "mse")
    before = [w.copy() for w in layer.get_weights()]
    model.fit(inputs(), np.ones((B, U)), epochs=3, verbose=0)
    for old, new in zip(before, layer.get_weights(), strict=True):
        np.testing.assert_array_equal(old[..., COLUMNS["forget"]], new[..., COLUMNS["forget"]])
        assert (old[..., COLUMNS["input"]] != new[..., COLUMNS["input"]]).all()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"open_gates": ("forgot",)}, r"among input, forget, output, got \('forgot',\)"),
        ({"open_gates": "forget"}, "must be a tuple of different names"),
        ({"open_gates": ("input", "input")}, "must be a tuple of different names"),
        ({"open_gates": ("forget",), "forget_bias": 2.0}, "leave one of the two out"),
        ({"open_gates": ("input",), "use_bias": False}, "needs use_bias=True"),
        ({"open_gates": ("input",), "recurrent_activation": "hard_sigmoid"}, 'recurrent_activation="sigmoid"'),
    ],
)
def test_open_gates_without_meaning_are_refused(kwargs: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LSTM(U, **kwargs)
