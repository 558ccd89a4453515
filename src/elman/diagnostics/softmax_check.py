"""The language model's softmax and loss against TensorFlow's plain log-softmax."""

from typing import Any

import numpy as np
import tensorflow as tf

from elman.diagnostics.check import Check, compare
from elman.layers.softmax_nll import softmax_nll, softmax_nll_sum

TOLERANCE = 1e-5
N, U, V = 70, 48, 1_003  # rows, units, vocabulary; no multiple of a block


def check_softmax() -> Check:
    """Check the loss of each row, their sum, and the gradients of the sum."""
    rng = np.random.default_rng(0)
    hidden, matrix, bias = (tf.constant(rng.normal(size=shape), tf.float32) for shape in ((N, U), (V, U), (V,)))
    targets = tf.constant(rng.integers(0, V, N), tf.int32)

    def kernel_sum(hidden: Any, matrix: Any, bias: Any) -> Any:
        return softmax_nll_sum(hidden, matrix, bias, targets)

    def plain(hidden: Any, matrix: Any, bias: Any) -> Any:
        log_p = tf.nn.log_softmax(tf.matmul(hidden, matrix, transpose_b=True) + bias)  # (N, V)
        return -tf.gather(log_p, targets, batch_dims=1)

    def plain_sum(hidden: Any, matrix: Any, bias: Any) -> Any:
        return tf.reduce_sum(plain(hidden, matrix, bias))

    variables = [hidden, matrix, bias]
    found = {"each row": np.asarray(softmax_nll(hidden, matrix, bias, targets)), **_values(variables, kernel_sum)}
    expected = {"each row": np.asarray(plain(hidden, matrix, bias)), **_values(variables, plain_sum)}
    detail = f"{N} rows, {U} units, {V:,} words"
    name = "language model: softmax and loss against log-softmax"
    return compare(name, found, expected, tolerance=TOLERANCE, detail=detail)


def _values(variables: list[Any], loss: Any) -> dict[str, Any]:
    with tf.GradientTape() as tape:
        tape.watch(variables)
        total = loss(*variables)
    names = ("gradient of the outputs", "gradient of the matrix", "gradient of the bias")
    gradients = tape.gradient(total, variables)
    values = {name: np.asarray(tf.convert_to_tensor(g)) for name, g in zip(names, gradients, strict=True)}
    return {"the sum": np.asarray(total)} | values
