from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf

from elman.layers.kernels.softmax_nll import _Workspace
from elman.layers.kernels.softmax_passes import BLOCK_ROWS, exp
from elman.layers.softmax_nll import _nll_of_logits, softmax_nll, softmax_nll_sum


def inputs(rows: int, units: int = 11, size: int = 37, seed: int = 0, scale: float = 1.0):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(rows, units)).astype("float32") * scale
    matrix, bias = random.normal(size=(size, units)), random.normal(size=size)
    targets = random.integers(0, size, rows).astype("int32")
    return [tf.constant(hidden), tf.constant(matrix, tf.float32), tf.constant(bias, tf.float32)], tf.constant(targets)


def gradients(function, variables, targets, factor):
    with tf.GradientTape() as tape:
        tape.watch(variables)
        loss = factor * function(*variables, targets)
    return [loss, *tape.gradient(loss, variables)]


@pytest.mark.parametrize("rows", [1, 7, 50, 2 * BLOCK_ROWS + 5])
@pytest.mark.parametrize(("units", "size"), [(16, 32), (11, 37), (1, 2), (40, 333)])
def test_sum_and_gradients_are_those_of_softmax_and_cross_entropy(rows, units, size):
    variables, targets = inputs(rows, units, size)
    ours = gradients(softmax_nll_sum, variables, targets, 0.3)
    theirs = gradients(lambda *a: tf.reduce_sum(_nll_of_logits(*a)), variables, targets, 0.3)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-5, atol=2e-5)


def test_rows_are_those_of_softmax_and_cross_entropy_in_float64():
    variables, targets = inputs(rows=3 * BLOCK_ROWS)
    hidden, matrix, bias = (np.asarray(v, np.float64) for v in variables)
    logits = hidden @ matrix.T + bias
    largest = logits.max(axis=1)
    total = np.log(np.exp(logits - largest[:, None]).sum(axis=1)) + largest
    expected = total - logits[np.arange(len(logits)), targets]
    np.testing.assert_allclose(softmax_nll(*variables, targets), expected, rtol=1e-5, atol=2e-6)


def test_a_row_does_not_depend_on_the_others_to_the_last_bit():
    variables, targets = inputs(rows=200)
    together = softmax_nll(*variables, targets).numpy()
    alone = softmax_nll(variables[0][150:151], *variables[1:], targets[150:151]).numpy()
    assert together[150] == alone[0]


def test_two_runs_give_the_same_bits():
    variables, targets = inputs(rows=500, units=64, size=500)
    first, second = (gradients(softmax_nll_sum, variables, targets, 1.0) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_target_of_almost_no_probability_has_a_finite_score():
    variables, targets = inputs(rows=4, scale=1e3)
    assert np.isfinite(softmax_nll(*variables, targets)).all()
    far = softmax_nll(tf.zeros((1, 2)), tf.zeros((8, 2)), tf.constant([-1e4] + [0.0] * 7), tf.constant([0]))
    assert float(far[0]) == pytest.approx(1e4 + np.log(7.0), rel=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_input_that_is_not_finite_gives_a_score_that_is_not(bad):
    variables, targets = inputs(rows=3)
    variables[0] = tf.tensor_scatter_nd_update(variables[0], [[1, 0]], [bad])
    scores = softmax_nll(*variables, targets).numpy()
    assert not np.isfinite(scores[1])
    assert np.isfinite(scores[[0, 2]]).all()


def test_inside_a_graph_with_unknown_sizes_it_gives_the_same():
    variables, targets = inputs(rows=20)
    shapes = [
        tf.TensorSpec((None, 11)),
        tf.TensorSpec((37, 11)),
        tf.TensorSpec((37,)),
        tf.TensorSpec((None,), tf.int32),
    ]
    compiled = tf.function(softmax_nll_sum, input_signature=shapes)
    assert float(compiled(*variables, targets)) == float(softmax_nll_sum(*variables, targets))


def test_exp_is_exact_to_float32():
    x = np.linspace(-87, 0, 20_001).astype("float32")
    ours = np.array([exp(value) for value in x], np.float64)
    np.testing.assert_allclose(ours, np.exp(x.astype(np.float64)), rtol=3e-7)
    assert exp(np.float32(-1e9)) == pytest.approx(np.exp(-87.0), rel=1e-6)
    assert np.isnan(exp(np.float32(np.nan)))


def test_no_rows_give_no_score_and_gradients_of_zero():
    variables, targets = inputs(rows=0, size=600)
    np.full(10_000, np.nan, "float32")  # memory that is handed out again is not zero
    loss, *found = gradients(softmax_nll_sum, variables, targets, 1.0)
    assert float(loss) == 0.0
    for gradient, variable in zip(found, variables, strict=True):
        np.testing.assert_array_equal(gradient, tf.zeros_like(variable))


@pytest.mark.parametrize("bad", [-1, 37])
def test_a_target_that_is_no_word_is_refused(bad):
    variables, _ = inputs(rows=2)
    for function in (softmax_nll, tf.function(softmax_nll_sum)):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=r"targets must be in 0\.\.36; came"):
            function(*variables, tf.constant([3, bad]))


def test_many_rows_are_worked_on_in_chunks(monkeypatch):
    variables, targets = inputs(rows=3 * BLOCK_ROWS + 7)
    whole = gradients(softmax_nll_sum, variables, targets, 1.0)
    monkeypatch.setattr("elman.layers.kernels.softmax_nll._KEPT", 0)
    for mine, other in zip(gradients(softmax_nll_sum, variables, targets, 1.0), whole, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)


def test_memory_that_is_in_use_is_given_to_nobody_else():
    workspace = _Workspace()
    first, second = workspace.take(3, 4), workspace.take(2)
    assert not np.shares_memory(first, second)
    workspace.give_back(first)
    again, other = workspace.take(12), workspace.take(12)
    assert np.shares_memory(first, again)
    assert not np.shares_memory(again, other)


def test_steps_at_the_same_time_do_not_disturb_each_other():
    cases = [inputs(rows, size=size, seed=rows) for rows, size in ((40, 300), (200, 37), (130, 900))]
    alone = [gradients(softmax_nll_sum, *case, 1.0) for case in cases]
    with ThreadPoolExecutor(6) as pool:
        for expected, found in zip(
            alone * 20, pool.map(lambda case: gradients(softmax_nll_sum, *case, 1.0), cases * 20), strict=True
        ):
            for one, other in zip(expected, found, strict=True):
                np.testing.assert_array_equal(one, other)
