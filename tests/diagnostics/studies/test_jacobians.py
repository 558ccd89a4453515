import numpy as np
import pytest
import tensorflow as tf

from elman.diagnostics.studies.cells import make_layer
from elman.diagnostics.studies.jacobians import (
    geometric_mean,
    input_gradient_norms,
    jacobian_sizes,
    state_jacobians,
)
from tests.helpers import numpy_cells

UNITS, INPUTS = 5, 3
CELLS = {
    "simple_rnn": numpy_cells.elman,
    "lstm": numpy_cells.lstm,
    "gru": numpy_cells.gru_reset_after,
    "lstm_1997": numpy_cells.lstm_1997,
}


def built(name: str, seed: int = 1):
    layer = make_layer(name, units=UNITS, seed=seed)
    layer.build((None, None, INPUTS))
    return layer


def sequence(length: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal((length, INPUTS)).astype(np.float32)


def by_differences(name, layer, inputs, distance, state):
    """The same Jacobian from the reference cell in float64, by central differences."""
    weights = [np.asarray(weight, np.float64) for weight in layer.get_weights()]
    cell, count = CELLS[name], 2 if "lstm" in name else 1

    def end(states, rows):
        for row in rows.astype(np.float64):
            states = cell(row, states, weights)
        return states

    start = end((np.zeros(UNITS),) * count, inputs[: len(inputs) - distance])
    columns = []
    for unit in range(UNITS):
        moved = []
        for sign in (1, -1):
            states = [part.copy() for part in start]
            states[state][unit] += sign * 1e-5
            moved.append(end(tuple(states), inputs[len(inputs) - distance :])[state])
        columns.append((moved[0] - moved[1]) / 2e-5)
    return np.stack(columns, axis=1)


@pytest.mark.parametrize(("name", "state"), [("simple_rnn", 0), ("lstm", 0), ("lstm", 1), ("gru", 0), ("lstm_1997", 1)])
@pytest.mark.parametrize("distance", [1, 4, 9])
def test_the_jacobian_is_that_of_the_equations(name, state, distance):
    layer, inputs = built(name), sequence(9)
    (found,) = state_jacobians(layer, inputs[None], distance=distance, state=state)
    np.testing.assert_allclose(found, by_differences(name, layer, inputs, distance, state), atol=2e-5)


def test_an_lstm_without_forget_gate_keeps_the_gradient_of_its_cell_for_100_steps():
    layer = built("lstm_1997")
    kernel, recurrent, bias = layer.get_weights()
    layer.set_weights([kernel, np.zeros_like(recurrent), bias])  # the cell alone, without the way through h
    (carried,) = state_jacobians(layer, sequence(100)[None], distance=100, state=1)
    np.testing.assert_allclose(carried, np.eye(UNITS), atol=1e-4)


def test_with_a_forget_gate_that_gradient_is_the_product_of_the_gates():
    layer = built("lstm")
    kernel, recurrent, bias = layer.get_weights()
    layer.set_weights([np.zeros_like(kernel), np.zeros_like(recurrent), bias])
    (carried,) = state_jacobians(layer, sequence(10)[None], distance=10, state=1)
    np.testing.assert_allclose(carried, (1 / (1 + np.exp(-1.0))) ** 10 * np.eye(UNITS), rtol=1e-4, atol=1e-8)


def test_a_size_is_the_frobenius_norm_by_the_root_of_the_units():
    layer, inputs = built("gru"), np.stack([sequence(6), -2 * sequence(6)])
    sizes = jacobian_sizes(layer, inputs, distances=[3, 5])
    assert sizes.shape == (2, 2)
    for row, inputs_of_row in zip(sizes, inputs, strict=True):
        for size, distance in zip(row, (3, 5), strict=True):
            (jacobian,) = state_jacobians(layer, inputs_of_row[None], distance=distance)
            assert size == pytest.approx(np.sqrt((jacobian**2).sum() / UNITS), rel=1e-5)


def test_the_input_gradient_is_that_of_finite_differences():
    layer, inputs = built("lstm"), sequence(6)[None]
    (norm,) = input_gradient_norms(layer, inputs)
    gradient = []
    for feature in range(INPUTS):
        ends = []
        for sign in (1, -1):
            moved = inputs.copy()
            moved[0, 0, feature] += sign * 1e-2
            ends.append(float(tf.reduce_sum(layer(moved)[0][:, -1])))
        gradient.append((ends[0] - ends[1]) / 2e-2)
    assert norm == pytest.approx(np.linalg.norm(gradient), rel=5e-3)


def test_a_gradient_of_zero_does_not_make_the_mean_zero():
    assert geometric_mean([1e-3, 1e-5]) == pytest.approx(1e-4)
    assert geometric_mean([0.0, 1.0]) > 0.0
