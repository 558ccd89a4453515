"""Keras' Adam with the arithmetic of one update done in one pass over memory."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from elman.layers.kernels import buffers
from elman.layers.kernels.adam import adam
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.threads import available_threads


def can_fuse(optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable]) -> bool:
    """Whether `apply_fused` does what `optimizer.apply` does: plain Adam in float32 on a CPU."""
    plain = type(optimizer) is keras.optimizers.Adam and not (
        optimizer.amsgrad or optimizer.use_ema or optimizer.weight_decay or optimizer.gradient_accumulation_steps
        or optimizer.clipnorm or optimizer.global_clipnorm or optimizer.clipvalue or optimizer.loss_scale_factor
    )  # fmt: skip
    own = all(variable.dtype == "float32" and variable.constraint is None for variable in variables)
    elsewhere = tf.config.list_logical_devices("GPU") or tf.distribute.has_strategy()
    return plain and own and not elsewhere


def apply_fused(
    optimizer: keras.optimizers.Adam, gradients: Sequence[Any], variables: Sequence[keras.Variable], *, scale: Any
) -> None:
    """Update variables, momentums, velocities and the count of steps, as `optimizer.apply` would.

    Args:
        optimizer: Built for `variables`, in this order.
        gradients: float32, one for each variable.
        variables: float32.
        scale: float32 (). Factor of all gradients: clipping by global norm.
    """
    beta_1, beta_2 = optimizer.beta_1, optimizer.beta_2
    step = tf.cast(optimizer.iterations.value + 1, tf.float32)
    correction = tf.sqrt(1.0 - tf.pow(beta_2, step)) / (1.0 - tf.pow(beta_1, step))
    alpha = tf.cast(optimizer.learning_rate, tf.float32) * correction
    rates = np.array([1.0 - beta_1, 1.0 - beta_2, optimizer.epsilon], np.float32)
    threads = tf.config.threading.get_intra_op_parallelism_threads() or available_threads()

    def on_arrays(alpha: Array, scale: Array, *arrays: Array) -> list[Array]:
        read = [buffers.read_only(array) for array in arrays]
        results: list[Array] = []
        for first in range(0, len(read), 4):
            some = read[first : first + 4]
            results += adam(*some, scale=float(scale), alpha=float(alpha), rates=rates, threads=threads)
        return results

    states = [(v, optimizer._momentums[i], optimizer._velocities[i]) for i, v in enumerate(variables)]
    inputs = [part for g, state in zip(gradients, states, strict=True) for part in (g, *(v.value for v in state))]
    outputs = tf.numpy_function(on_arrays, [alpha, scale, *inputs], [tf.float32] * (3 * len(states)), stateful=False)
    for variable, value in zip([v for state in states for v in state], outputs, strict=True):
        variable.assign(tf.ensure_shape(value, variable.shape))
    optimizer.iterations.assign_add(1)
