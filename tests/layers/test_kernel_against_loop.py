"""The CPU kernels against Keras' generic loop: outputs, states and every gradient."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.layers.gru import GRU
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN

CELLS = [SimpleRNN, LSTM, GRU]
B, T, D, U = 9, 8, 5, 13  # no multiple of a vector or of a block of rows

RIGHT = np.arange(T) < np.array([8, 1, 0, 3, 8, 7, 2, 5, 1])[:, None]
HOLES = np.random.default_rng(5).random((B, T)) < 0.6
HOLES[3] = False
LEFT = RIGHT[:, ::-1]
MASKS = {"no mask": None, "right": RIGHT, "left": LEFT, "holes": HOLES}


def pair(cls: Any, **kwargs: Any) -> tuple[Any, Any]:
    """The same layer on the kernel and on the generic loop."""
    fast, slow = cls(U, return_state=True, **kwargs), cls(U, return_state=True, loop="generic", **kwargs)
    rng = np.random.default_rng(0)
    for layer in (fast, slow):
        layer.build((None, None, D))
    weights = [rng.normal(size=w.shape) * 0.4 for w in fast.weights]
    fast.set_weights(weights)
    slow.set_weights(weights)
    assert fast.kernel_plan().name == "CPU kernel"
    assert slow.kernel_plan().name == "generic loop"
    return fast, slow


def tensors(layer: Any, batch: int = B, length: int = T) -> tuple[tf.Tensor, list[tf.Tensor]]:
    rng = np.random.default_rng(1)
    x = tf.constant(rng.normal(size=(batch, length, D)), tf.float32)
    return x, [tf.constant(rng.normal(size=(batch, U)), tf.float32) for _ in layer.state_size]


def values_and_gradients(
    layer: Any, x: tf.Tensor, states: list[tf.Tensor] | None, mask: Any, *, training: bool = True
) -> list[np.ndarray]:
    """Outputs and states, then the gradients by input, initial states and weights of a loss that uses all outputs."""
    variables = [w.value for w in layer.trainable_weights]
    with tf.GradientTape() as tape:
        tape.watch([x, *(states or [])])
        outputs = layer(x, mask=mask, initial_state=states, training=training)
        outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
        loss = tf.add_n([tf.reduce_sum(tf.sin(tf.cast(o, tf.float32) * (k + 1) + 0.3)) for k, o in enumerate(outputs)])
    gradients = tape.gradient(loss, [x, *(states or []), *variables])
    return [np.asarray(tf.cast(value, tf.float32)) for value in (*outputs, *gradients)]


def assert_close(first: list[np.ndarray], second: list[np.ndarray], tolerance: float = 1e-5) -> None:
    for a, b in zip(first, second, strict=True):
        assert np.isfinite(a).all()
        np.testing.assert_allclose(a, b, atol=tolerance * max(1.0, float(np.abs(b).max())), rtol=0)


@pytest.mark.parametrize("cls", CELLS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("go_backwards", [False, True], ids=["forwards", "backwards"])
def test_outputs_states_and_gradients_agree(cls: Any, mask: str, go_backwards: bool) -> None:
    for return_sequences in (True, False):
        fast, slow = pair(cls, return_sequences=return_sequences, go_backwards=go_backwards)
        x, states = tensors(fast)
        chosen = None if MASKS[mask] is None else tf.constant(MASKS[mask])
        assert_close(values_and_gradients(fast, x, states, chosen), values_and_gradients(slow, x, states, chosen))


@pytest.mark.parametrize("cls", CELLS)
@pytest.mark.parametrize("mask", ["right", "holes"])
def test_zero_output_for_mask_agrees(cls: Any, mask: str) -> None:
    for return_sequences in (True, False):
        fast, slow = pair(cls, return_sequences=return_sequences, zero_output_for_mask=True)
        x, states = tensors(fast)
        chosen = tf.constant(MASKS[mask])
        assert_close(values_and_gradients(fast, x, states, chosen), values_and_gradients(slow, x, states, chosen))


@pytest.mark.parametrize("cls", CELLS)
def test_gradient_is_right_outside_of_training(cls: Any) -> None:
    fast, slow = pair(cls, return_sequences=True)
    x, states = tensors(fast)
    results = [values_and_gradients(layer, x, states, tf.constant(RIGHT), training=False) for layer in (fast, slow)]
    assert_close(*results)


@pytest.mark.parametrize("cls", CELLS)
def test_unknown_batch_and_length_work_in_a_graph(cls: Any) -> None:
    fast, slow = pair(cls, return_sequences=True)
    signature = [tf.TensorSpec((None, None, D)), tf.TensorSpec((None, None), tf.bool)]

    def gradients(layer: Any) -> Any:
        @tf.function(input_signature=signature)
        def run(x: tf.Tensor, mask: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch(x)
                outputs, *_ = layer(x, mask=mask, training=True)
                loss = tf.reduce_sum(outputs**2)
            assert outputs.shape.as_list() == [None, None, U]
            return [outputs, *tape.gradient(loss, [x, *[w.value for w in layer.trainable_weights]])]

        return run

    graph = gradients(fast)
    for batch, length in ((B, T), (1, 3), (2, 1)):
        x, _ = tensors(fast, batch, length)
        mask = tf.constant(RIGHT[:batch, :length])
        with tf.GradientTape() as tape:
            tape.watch(x)
            outputs, *_ = slow(x, mask=mask, training=True)
            loss = tf.reduce_sum(outputs**2)
        expected = [outputs, *tape.gradient(loss, [x, *[w.value for w in slow.trainable_weights]])]
        assert_close([np.asarray(v) for v in graph(x, mask)], [np.asarray(v) for v in expected])


@pytest.mark.parametrize("cls", CELLS)
def test_batch_or_sequence_of_size_one_agrees(cls: Any) -> None:
    for batch, length in ((1, 1), (1, T), (B, 1)):
        fast, slow = pair(cls, return_sequences=True)
        x, states = tensors(fast, batch, length)
        assert_close(values_and_gradients(fast, x, states, None), values_and_gradients(slow, x, states, None))


@pytest.mark.parametrize("cls", CELLS)
def test_a_batch_without_rows_gives_nothing_and_gradients_of_zero(cls: Any) -> None:
    fast, _ = pair(cls, return_sequences=True)
    x, states = tensors(fast, batch=0)
    outputs, *rest = values_and_gradients(fast, x, states, None)
    assert outputs.shape == (0, T, U)
    assert all((value == 0.0).all() for value in rest)


@pytest.mark.parametrize("cls", CELLS)
@pytest.mark.parametrize("batch", range(1, 34, 4))
def test_every_number_of_rows_gives_the_result_of_each_row_alone(cls: Any, batch: int) -> None:
    fast, _ = pair(cls, return_sequences=True)
    x, states = tensors(fast, batch)
    whole = fast(x, initial_state=states)[1]
    alone = [fast(x[row : row + 1], initial_state=[s[row : row + 1] for s in states])[1] for row in range(batch)]
    np.testing.assert_allclose(whole, np.concatenate(alone), atol=1e-6, rtol=0)


@pytest.mark.parametrize("cls", CELLS)
def test_chunks_with_carried_state_equal_the_whole(cls: Any) -> None:
    fast, _ = pair(cls, return_sequences=True)
    x, states = tensors(fast, B, 12)
    whole, *last = fast(x, initial_state=states)
    chunks = []
    for start in (0, 5, 6):
        end = {0: 5, 5: 6, 6: 12}[start]
        outputs, *states = fast(x[:, start:end], initial_state=states)
        chunks.append(outputs)
    np.testing.assert_allclose(np.concatenate(chunks, axis=1), whole, atol=2e-6)
    for a, b in zip(states, last, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-6)


@pytest.mark.parametrize("cls", CELLS)
def test_bidirectional_agrees(cls: Any) -> None:
    layers = [keras.layers.Bidirectional(cls(U, return_sequences=True, loop=loop)) for loop in ("auto", "generic")]
    rng = np.random.default_rng(0)
    for layer in layers:
        layer.build((None, None, D))
    weights = [rng.normal(size=w.shape) * 0.4 for w in layers[0].weights]
    for layer in layers:
        layer.set_weights(weights)
    x, _ = tensors(layers[0].forward_layer)
    fast, slow = (values_and_gradients(layer, x, None, tf.constant(RIGHT)) for layer in layers)
    assert_close(fast, slow)


@pytest.mark.parametrize("cls", CELLS)
@pytest.mark.parametrize(("policy", "tolerance"), [("mixed_bfloat16", 0.03), ("mixed_float16", 0.004)])
def test_mixed_precision_agrees_with_float32(cls: Any, policy: str, tolerance: float) -> None:
    whole, _ = pair(cls, return_sequences=True)
    mixed, _ = pair(cls, return_sequences=True, dtype=policy)
    x, states = tensors(whole)
    results = values_and_gradients(mixed, x, states, tf.constant(RIGHT))
    assert mixed(x)[0].dtype == mixed.compute_dtype
    assert_close(results, values_and_gradients(whole, x, states, tf.constant(RIGHT)), tolerance)


@pytest.mark.parametrize("cls", CELLS)
def test_input_dropout_uses_one_mask_for_all_steps(cls: Any) -> None:
    layer = cls(U, dropout=0.5, seed=3, return_sequences=True)
    layer.build((None, None, D))
    assert layer.kernel_plan().name == "CPU kernel"
    first = np.eye(D, dtype="float32")[:, None, :].repeat(6, axis=1)  # each row shows one feature at all steps
    layer.set_weights(
        [np.abs(w) for w in layer.get_weights()[:1]] + [np.zeros_like(w) for w in layer.get_weights()[1:]]
    )
    outputs = np.abs(np.asarray(layer(first, training=True)))[:, 0]
    dropped = outputs.max(axis=-1) == 0
    assert 0 < dropped.sum() < D
    np.testing.assert_array_equal(np.asarray(layer(first, training=False)).max(axis=(1, 2)) > 0, True)


@pytest.mark.parametrize("cls", CELLS)
def test_runs_are_equal_to_the_last_bit(cls: Any) -> None:
    fast, _ = pair(cls, return_sequences=True)
    x, states = tensors(fast, 32, 40)
    runs = [values_and_gradients(fast, x, states, None) for _ in range(3)]
    for values in zip(*runs, strict=True):
        assert all(np.array_equal(values[0], other) for other in values[1:])


def test_layers_that_run_at_the_same_time_do_not_disturb_each_other() -> None:
    layers = [pair(cls, return_sequences=True)[0] for cls in CELLS * 2]
    x, _ = tensors(layers[0], 32, 40)
    alone = [np.asarray(layer(x)[0]) for layer in layers]

    @tf.function
    def together(x: tf.Tensor) -> list[tf.Tensor]:
        return [layer(x)[0] for layer in layers]

    for _ in range(5):
        for expected, outputs in zip(alone, together(x), strict=True):
            np.testing.assert_array_equal(outputs, expected)


@pytest.mark.parametrize("cls", CELLS)
def test_not_a_number_reaches_the_output(cls: Any) -> None:
    fast, _ = pair(cls)
    x = np.zeros((2, 3, D), "float32")
    x[1, 1, 0] = np.nan
    outputs = np.asarray(fast(x)[0])
    assert np.isfinite(outputs[0]).all()
    assert np.isnan(outputs[1]).any()
