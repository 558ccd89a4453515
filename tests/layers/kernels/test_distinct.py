"""Steps with the same input: found by their bits, their product formed once, and nothing else changed by it."""

from collections.abc import Callable

import keras
import numpy as np
import pytest
import tensorflow as tf

from elman.layers.gru import GRU
from elman.layers.kernels import array_work, distinct
from elman.layers.kernels.buffers import Array, read_only
from elman.layers.kernels.distinct import DistinctInputs, distinct_inputs
from elman.layers.lstm import LSTM
from elman.layers.simple_rnn import SimpleRNN

BATCH, LENGTH, WIDTH, TYPES = 6, 40, 24, 30


def inputs(types: int = TYPES, seed: int = 0) -> tuple[Array, Array]:
    """Rows of a table, (B, T, D), and a mask with holes; NaN, which must reach nothing, at masked steps."""
    random = np.random.default_rng(seed)
    table = random.normal(size=(types, WIDTH)).astype("float32")
    mask = random.random((BATCH, LENGTH)) < 0.8
    x = table[random.integers(0, types, (BATCH, LENGTH))]
    x[~mask] = np.nan
    return read_only(x), read_only(mask)


def test_each_real_step_finds_its_own_input_and_each_input_stands_there_once() -> None:
    x, mask = inputs()
    found = distinct_inputs(x, mask)
    assert found.joined
    np.testing.assert_array_equal(found.rows[found.places[mask]], x[mask])
    assert len(found.rows) == len(np.unique(x[mask], axis=0)) == len(np.unique(found.places[mask]))
    assert [n for start, end in found.runs for n in range(start, end)] == list(range(len(found.rows)))


@pytest.mark.parametrize("types", [100_000, 400])
def test_steps_that_mostly_differ_stay_as_they_stand(types: int) -> None:
    x, mask = inputs(types)
    found = distinct_inputs(x, mask)
    assert not found.joined
    np.testing.assert_array_equal(found.rows.reshape(x.shape), x)
    np.testing.assert_array_equal(found.rows[found.places[mask]], x[mask])


def test_inputs_whose_sums_are_the_same_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distinct, "_hash_weights", lambda width: read_only(np.zeros(width, np.int32)))
    x, mask = inputs()
    found = distinct_inputs(x, mask)
    assert found.joined
    np.testing.assert_array_equal(found.rows[found.places[mask]], x[mask])
    assert len(found.rows) == len(np.unique(x[mask], axis=0))


def test_a_batch_without_a_real_step_and_a_single_step_are_no_special_cases() -> None:
    x, _ = inputs()
    assert not distinct_inputs(x, read_only(np.zeros((BATCH, LENGTH), bool))).joined
    one = distinct_inputs(read_only(x[:1, :1].copy()), read_only(np.ones((1, 1), bool)))
    assert one.places.tolist() == [[0]]
    assert one.runs.tolist() == [[0, 1]]


@pytest.mark.parametrize("cell", [SimpleRNN, LSTM, GRU])
@pytest.mark.parametrize("backwards", [False, True])
def test_outputs_keep_all_bits_and_gradients_their_values(
    cell: Callable[..., keras.layers.Layer], backwards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, mask = inputs(seed=1)
    x = read_only(np.nan_to_num(x))
    assert distinct_inputs(x, mask).joined
    layer = cell(13, return_sequences=True, go_backwards=backwards, bias_initializer="glorot_normal", seed=3)
    layer.build((None, None, WIDTH))
    weight = np.random.default_rng(2).normal(size=(BATCH, LENGTH, 13)).astype("float32")

    def outputs_and_gradients() -> list[Array]:
        given = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(given)
            outputs = layer(given, mask=tf.constant(mask), training=True)
            loss = tf.reduce_sum(outputs * weight)
        kernel, matrix, bias = (variable.value for variable in layer.trainable_variables)
        return [outputs.numpy(), *(g.numpy() for g in tape.gradient(loss, [given, kernel, matrix, bias]))]

    joined = outputs_and_gradients()

    def apart(x: Array, mask: Array) -> DistinctInputs:
        monkeypatch.setattr(distinct, "_WORTH_JOINING", 0.0)
        found = distinct_inputs(x, mask)
        assert not found.joined
        return found

    monkeypatch.setattr(array_work, "distinct_inputs", apart)
    plain = outputs_and_gradients()
    for number in (0, 1, 3, 4):  # outputs, and gradients of the inputs, the recurrent kernel and the bias
        np.testing.assert_array_equal(joined[number], plain[number])
    np.testing.assert_allclose(joined[2], plain[2], rtol=1e-5, atol=1e-5 * np.abs(plain[2]).max())
