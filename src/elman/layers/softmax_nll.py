"""Negative log-likelihood of targets under a softmax over the vocabulary: a language model's output layer and loss."""

from typing import Any

import tensorflow as tf

from elman.layers.kernels import buffers
from elman.layers.kernels import softmax_nll as kernel
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.threads import available_threads


def softmax_nll(hidden: Any, matrix: Any, bias: Any, targets: Any) -> Any:
    """Return -ln softmax(hidden matrix^T + bias)[target] of each row. Not differentiable; see `softmax_nll_sum`.

    Args:
        hidden: float (N, U).
        matrix: float32 (V, U).
        bias: float32 (V,).
        targets: int32 (N,).

    Returns:
        float32 (N,), in nats.

    Example:
        >>> zeros = tf.zeros((1, 2)), tf.zeros((8, 2)), tf.zeros(8)
        >>> round(float(softmax_nll(*zeros, tf.constant([5]))[0]), 4)  # ln 8
        2.0794
    """
    if not _has_kernel(hidden):
        return _nll_of_logits(hidden, matrix, bias, targets)
    return tf.stop_gradient(_call(hidden, matrix, bias, targets, gradients=False)[0])


def softmax_nll_sum(hidden: Any, matrix: Any, bias: Any, targets: Any) -> Any:
    """Return the sum over rows of `softmax_nll`, differentiable by hidden, matrix and bias.

    On a CPU in float32 the logits of all rows never exist at once: sum and gradients come from one pass over the
    vocabulary, since the gradient of a sum needs nothing from what follows but a factor.

    Returns:
        float32 (), in nats.
    """
    if not _has_kernel(hidden):
        return tf.reduce_sum(_nll_of_logits(hidden, matrix, bias, targets))

    @tf.custom_gradient
    def run(hidden: Any, matrix: Any, bias: Any) -> Any:
        nll, *gradients = _call(hidden, matrix, bias, targets, gradients=True)

        def gradient(upstream: Any) -> Any:
            if tf.get_static_value(upstream) == 1.0:  # the sum is the loss: no pass over V x U numbers for nothing
                return tuple(gradients)
            return tuple(upstream * part for part in gradients)

        return tf.reduce_sum(nll), gradient

    return run(hidden, matrix, bias)


def _has_kernel(hidden: Any) -> bool:
    return hidden.dtype == tf.float32 and not tf.config.list_logical_devices("GPU")


def _nll_of_logits(hidden: Any, matrix: Any, bias: Any, targets: Any) -> Any:
    logits = tf.matmul(hidden, tf.cast(matrix, hidden.dtype), transpose_b=True)  # (N, V)
    logits = tf.cast(logits, tf.float32) + tf.cast(bias, tf.float32)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)


def _call(hidden: Any, matrix: Any, bias: Any, targets: Any, *, gradients: bool) -> list[Any]:
    threads = tf.config.threading.get_intra_op_parallelism_threads() or available_threads()

    def on_arrays(*arrays: Array) -> tuple[Array, ...]:
        return kernel.softmax_nll(*map(buffers.read_only, arrays), gradients=gradients, threads=threads)

    results = tf.numpy_function(on_arrays, [hidden, matrix, bias, targets], [tf.float32] * 4, stateful=False)
    for result, like in zip(results, (targets, hidden, matrix, bias), strict=True):
        result.set_shape(like.shape if gradients else [None] * len(like.shape))
    return list(results)
