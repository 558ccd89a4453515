"""Weights moved from PyTorch and back, against what PyTorch computed.

What PyTorch gives was recorded by `benchmarks/pytorch_reference.py`; where torch can be imported, it is asked as well.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from benchmarks.pytorch_reference import CASES, FILE, Case, recorded, reference

from elman.errors import ConversionError
from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.pytorch_weights import load_pytorch_weights, pytorch_weights
from elman.layers.simple_rnn import SimpleRNN

Arrays = dict[str, np.ndarray]
LAYERS = {"RNN": SimpleRNN, "LSTM": LSTM, "GRU": GRU}
SOURCES: dict[str, Callable[[Case], Arrays]] = {"recorded": recorded}
if importlib.util.find_spec("torch"):
    SOURCES["live"] = reference

every_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
every_case = pytest.mark.parametrize("case", CASES, ids=Case.label)


def layers_of(case: Case, **kwargs: Any) -> list[Any]:
    """Layers, not built, that are what the module is."""
    kwargs = {"return_sequences": True, "return_state": True, "use_bias": case.bias, **kwargs}
    if case.module == "RNN":
        kwargs["activation"] = case.nonlinearity
    layers = [LAYERS[case.module](case.units, **kwargs) for _ in range(case.num_layers)]
    return [keras.layers.Bidirectional(layer) for layer in layers] if case.bidirectional else layers


def state_dict(arrays: Arrays, kind: str = "weights") -> Arrays:
    return {name.split("/")[1]: array for name, array in arrays.items() if name.startswith(kind + "/")}


def loaded(case: Case, arrays: Arrays, **kwargs: Any) -> list[Any]:
    layers = layers_of(case, **kwargs)
    load_pytorch_weights(layers, state_dict(arrays), nonlinearity=case.nonlinearity)  # type: ignore[arg-type]
    return layers


def run(layers: list[Any], case: Case, inputs: Any, initial: Any) -> tuple[Any, Any]:
    """Outputs (B, T, directions U) and last states as PyTorch stacks them, (S, L directions, B, U)."""
    directions, states = 1 + case.bidirectional, initial.shape[0]
    outputs, last = inputs, []
    for number, layer in enumerate(layers):
        places = [(s, number * directions + d) for d in range(directions) for s in range(states)]
        outputs, *new = layer(outputs, initial_state=[initial[place] for place in places])
        last += [new[d * states : (d + 1) * states] for d in range(directions)]
    return outputs, tf.stack([tf.stack(kind) for kind in zip(*last, strict=True)])


@every_source
@every_case
@pytest.mark.parametrize("loop", ["auto", "generic"])
def test_outputs_and_last_states_are_those_of_pytorch(source: Any, case: Case, loop: str) -> None:
    # keras-team/keras#15915: shapes fit, numbers are wrong.
    arrays = source(case)
    outputs, last = run(loaded(case, arrays, loop=loop), case, arrays["inputs"], arrays["initial"])
    np.testing.assert_allclose(outputs, arrays["outputs"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(last, arrays["last"], rtol=0, atol=1e-6)


@every_source
@every_case
def test_gradients_are_those_of_pytorch(source: Any, case: Case) -> None:
    arrays = source(case)
    layers = loaded(case, arrays)
    inputs, initial = tf.constant(arrays["inputs"]), tf.constant(arrays["initial"])
    variables = [w.value for layer in layers for w in layer.trainable_weights]
    with tf.GradientTape() as tape:
        tape.watch([inputs, initial])
        outputs, last = run(layers, case, inputs, initial)
        loss = tf.reduce_sum(tf.cos(outputs)) + tf.reduce_sum(tf.cos(2 * last))
    by_inputs, by_initial, *by_weights = tape.gradient(loss, [inputs, initial, *variables])
    np.testing.assert_allclose(by_inputs, arrays["inputs_gradient"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(tf.convert_to_tensor(by_initial), arrays["initial_gradient"], rtol=0, atol=1e-5)

    # A gradient has the layout of its weight: move it as one. PyTorch's two biases have the same gradient each.
    expected = state_dict(arrays, "gradients")
    if case.module != "GRU":
        expected = {name: np.zeros_like(g) if "bias_hh" in name else g for name, g in expected.items()}
    holder = layers_of(case)
    load_pytorch_weights(holder, expected, nonlinearity=case.nonlinearity)  # type: ignore[arg-type]
    for ours, theirs in zip(by_weights, [w for layer in holder for w in layer.get_weights()], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5)


@every_source
@every_case
def test_weights_come_back_as_they_were(source: Any, case: Case) -> None:
    arrays = state_dict(source(case))
    layers = loaded(case, source(case))
    back = pytorch_weights(layers, nonlinearity=case.nonlinearity)  # type: ignore[arg-type]
    assert list(back) == list(arrays), "the order of names is that of PyTorch"
    for name, array in back.items():
        expected = arrays[name]
        if "bias" in name and case.module != "GRU":  # PyTorch adds the two up, and so does one that is zero
            other = arrays[name.replace("bias_ih", "bias_hh")]
            expected = expected + other if "bias_ih" in name else np.zeros_like(expected)
        assert array.shape == expected.shape
        assert array.flags.c_contiguous
        np.testing.assert_array_equal(array, expected)


@every_case
def test_round_trip_over_pytorchs_names_is_exact(case: Case) -> None:
    layers = loaded(case, recorded(case))
    rng = np.random.default_rng(2)
    for layer in layers:
        layer.set_weights([rng.normal(size=w.shape) for w in layer.get_weights()])
    copies = layers_of(case)
    arrays = pytorch_weights(layers, nonlinearity=case.nonlinearity)  # type: ignore[arg-type]
    load_pytorch_weights(copies, arrays, nonlinearity=case.nonlinearity)  # type: ignore[arg-type]
    for layer, copy in zip(layers, copies, strict=True):
        for ours, theirs in zip(layer.get_weights(), copy.get_weights(), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_forget_gate_sees_a_bias_of_one_in_pytorch_and_back_again() -> None:
    # pytorch/pytorch#750: an initial bias of 1 in both vectors makes the gate see 2.
    layer, copy = LSTM(4, forget_bias=1.0), LSTM(4)
    layer.build((None, None, 3))
    arrays = pytorch_weights(layer)
    np.testing.assert_array_equal((arrays["bias_ih_l0"] + arrays["bias_hh_l0"])[4:8], 1.0)
    load_pytorch_weights(copy, arrays)
    np.testing.assert_array_equal(copy.forget_gate_bias, 1.0)


def test_every_recorded_bias_is_distinct_and_not_zero() -> None:
    assert FILE.stat().st_size < 100_000
    for case in CASES:
        biases = np.concatenate([np.zeros(0), *(a for n, a in state_dict(recorded(case)).items() if "bias" in n)])
        assert len(set(biases.tolist()) - {0.0}) == biases.size


def test_an_open_archive_will_do(tmp_path: Path) -> None:
    case = CASES[2]
    np.savez(tmp_path / "gru.npz", **state_dict(recorded(case)))
    layer = GRU(case.units, return_sequences=True)
    with np.load(tmp_path / "gru.npz") as archive:
        load_pytorch_weights(layer, archive)
    np.testing.assert_array_equal(layer.get_weights()[0], loaded(case, recorded(case))[0].get_weights()[0])


def test_the_example_of_the_readme_runs_as_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("LSTM", bidirectional=True)
    arrays = recorded(case)

    class Tensor:
        def __init__(self, array: np.ndarray) -> None:
            self.numpy = lambda: array

    class Module:
        def state_dict(self) -> dict[str, Tensor]:
            return {name: Tensor(array) for name, array in state_dict(arrays).items()}

    readme = Path("README.md").read_text(encoding="utf-8").split("## Weights from PyTorch")[1].split("\n## ")[0]
    blocks = [block.split("```")[0] for block in readme.split("```python\n")[1:]]
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"module": Module()}
    for block in blocks:
        exec(block, names)
    zeros = np.zeros_like(arrays["initial"])
    expected = run(loaded(case, arrays), case, arrays["inputs"], zeros)[0]
    np.testing.assert_array_equal(names["layer"](arrays["inputs"]), expected)


LSTM_CASE = CASES[1]
ARRAYS = state_dict(recorded(LSTM_CASE))
TWO = state_dict(recorded(Case("LSTM", num_layers=2)))
BOTH = state_dict(recorded(Case("LSTM", bidirectional=True)))
UNLIKE = {**BOTH, "weight_ih_l0_reverse": np.zeros((8, 9), "f4")}
NO_BIAS = state_dict(recorded(Case("LSTM", bias=False)))
GRU_ARRAYS = state_dict(recorded(Case("GRU")))
RNN_ARRAYS = state_dict(recorded(Case("RNN")))


def changed(**arrays: Any) -> Arrays:
    return {**ARRAYS, **arrays}


def without(name: str) -> Arrays:
    return {key: value for key, value in ARRAYS.items() if key != name}


@pytest.mark.parametrize(
    ("layers", "arrays", "message"),
    [
        (lambda: GRU(2, reset_after=False), GRU_ARRAYS, "reset_after=False; PyTorch's GRU resets after the product"),
        (lambda: LSTM(2), changed(weight_hr_l0=np.zeros((1, 2), "f4")), r"projection \(proj_size\) cannot"),
        (lambda: SimpleRNN(2, activation="relu"), RNN_ARRAYS, "must be 'tanh' to match PyTorch, got 'relu'"),
        (lambda: LSTM(2), NO_BIAS, r"lacks \['bias_hh_l0', 'bias_ih_l0'\].*use_bias must be"),
        (lambda: LSTM(2, use_bias=False), ARRAYS, r"has \['bias_hh_l0', 'bias_ih_l0'\] beyond; use_bias must be"),
        (lambda: LSTM(2), without("bias_hh_l0"), r"lacks \['bias_hh_l0'\] and has nothing beyond"),
        (lambda: LSTM(2), without("weight_hh_l0"), r"lacks \['weight_hh_l0'\]"),
        (lambda: LSTM(2), changed(dense=np.zeros(2, "f4")), r"lacks nothing and has \['dense'\] beyond"),
        (lambda: LSTM(3), ARRAYS, r"weight_ih_l0 must have the shape \(12, any\), got \(8, 3\)"),
        (lambda: GRU(2), ARRAYS, r"weight_ih_l0 must have the shape \(6, any\), got \(8, 3\)"),
        (lambda: LSTM(2), changed(bias_ih_l0=np.zeros(7, "f4")), r"bias_ih_l0 must have the shape \(8,\), got \(7,\)"),
        (lambda: LSTM(2), TWO, "holds 2 layers, but 1 are to take them"),
        (lambda: [LSTM(2), LSTM(2)], ARRAYS, "holds 1 layers, but 2 are to take them"),
        (lambda: LSTM(2), BOTH, "Bidirectional and bidirectional=True go together"),
        (lambda: keras.layers.Bidirectional(LSTM(2)), ARRAYS, "Bidirectional and bidirectional=True go together"),
        (lambda: LSTM(2), changed(bias_hh_l0=np.full(8, np.nan, "f4")), "bias_hh_l0 holds NaN or infinity"),
        (lambda: LSTM(2), changed(bias_hh_l0=np.zeros(8, int)), "bias_hh_l0 must be an array of floats, got int64"),
        (lambda: LSTM(2, open_gates=("forget",)), ARRAYS, r"open_gates=\('forget',\), which PyTorch does not have"),
        (lambda: LSTM(2, activation="relu"), ARRAYS, "activation of layer .* must be 'tanh' .* got 'relu'"),
        (lambda: LSTM(2, recurrent_activation="hard_sigmoid"), ARRAYS, "must be 'sigmoid' .* got 'hard_sigmoid'"),
        (lambda: LSTM(2, go_backwards=True), ARRAYS, "go_backwards=True; PyTorch reads backwards only"),
        (lambda: keras.layers.Bidirectional(LSTM(2), merge_mode="sum"), BOTH, "merge_mode .* must be 'concat'"),
        (lambda: [LSTM(2), GRU(2)], TWO, "one kind of cell"),
        (lambda: [LSTM(2), LSTM(3)], TWO, "one number of units"),
        (lambda: [LSTM(2), LSTM(2, use_bias=False)], TWO, "biases everywhere or nowhere"),
        (lambda: [keras.layers.Bidirectional(LSTM(2)), LSTM(2)], TWO, "and of directions in all layers"),
        (lambda: keras.layers.Bidirectional(LSTM(2)), UNLIKE, r"weight_ih_l0_reverse has the shape \(8, 9\)"),
        (lambda: keras.layers.Dense(2), ARRAYS, "Only SimpleRNN, LSTM and GRU can be converted, got Dense"),
        (list, ARRAYS, "one kind of cell"),
    ],
)
def test_what_cannot_be_converted_is_refused(layers: Any, arrays: Arrays, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        load_pytorch_weights(layers(), arrays)


def test_relu_needs_relu_on_both_sides() -> None:
    case = Case("RNN", nonlinearity="relu")
    with pytest.raises(ConversionError, match="must be 'relu' to match PyTorch, got 'tanh'"):
        load_pytorch_weights(SimpleRNN(2), state_dict(recorded(case)), nonlinearity="relu")
    with pytest.raises(ConversionError, match="must be 'tanh' to match PyTorch, got 'relu'"):
        pytorch_weights(loaded(case, recorded(case)))


def test_a_refused_state_dict_changes_no_layer() -> None:
    layers = [LSTM(2), LSTM(2)]
    layers[0].build((None, None, 3))
    layers[1].build((None, None, 2))
    before = [w for layer in layers for w in layer.get_weights()]
    with pytest.raises(ConversionError, match="weight_hh_l1 holds NaN"):
        load_pytorch_weights(layers, {**TWO, "weight_hh_l1": np.full_like(TWO["weight_hh_l1"], np.nan)})
    for old, new in zip(before, [w for layer in layers for w in layer.get_weights()], strict=True):
        np.testing.assert_array_equal(old, new)


def test_layers_that_do_not_fit_on_each_other_are_refused() -> None:
    layers = [LSTM(2), LSTM(2)]
    layers[0].build((None, None, 3))
    layers[1].build((None, None, 5))
    with pytest.raises(ConversionError, match="takes 5 inputs; 2 come from below it"):
        pytorch_weights(layers)


def test_what_is_not_built_or_not_finite_is_not_given_away() -> None:
    layer = LSTM(2)
    with pytest.raises(ConversionError, match="has no weights yet: build it"):
        pytorch_weights(layer)
    layer.build((None, None, 3))
    layer.set_weights([np.full(w.shape, np.inf) for w in layer.get_weights()])
    with pytest.raises(ConversionError, match="weight_ih_l0: the layer's weight holds NaN or infinity"):
        pytorch_weights(layer)
