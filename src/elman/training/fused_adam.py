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
from elman.training.layer_rates import LayerRates


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
    optimizer: keras.optimizers.Adam,
    gradients: Sequence[Any],
    variables: Sequence[keras.Variable],
    *,
    scale: Any,
    rates: LayerRates | None = None,
) -> None:
    """Update variables, momentums, velocities and the count of steps, as `optimizer.apply` would.

    Args:
        optimizer: Built for `variables`, in this order.
        gradients: float32, one for each variable.
        variables: float32.
        scale: float32 (). Factor of all gradients: clipping by global norm.
        rates: Layers with rates of their own; what is frozen keeps weight, momentum and velocity.
    """
    alphas, trained = step_lengths(optimizer, len(variables), rates)  # (N,) each
    constants = np.array([1.0 - optimizer.beta_1, 1.0 - optimizer.beta_2, optimizer.epsilon], np.float32)
    threads = tf.config.threading.get_intra_op_parallelism_threads() or available_threads()

    def on_arrays(alphas: Array, trained: Array, scale: Array, *arrays: Array) -> list[Array]:
        read = [buffers.read_only(array) for array in arrays]
        results: list[Array] = []
        for number, alpha in enumerate(alphas):
            some = read[4 * number : 4 * number + 4]
            if trained[number]:
                results += adam(*some, scale=float(scale), alpha=float(alpha), rates=constants, threads=threads)
            else:
                results += [array.copy() for array in some[1:]]
        return results

    states = [(v, optimizer._momentums[i], optimizer._velocities[i]) for i, v in enumerate(variables)]
    inputs = [part for g, state in zip(gradients, states, strict=True) for part in (g, *(v.value for v in state))]
    types = [tf.float32] * (3 * len(states))
    outputs = tf.numpy_function(on_arrays, [alphas, trained, scale, *inputs], types, stateful=False)
    for variable, value in zip([v for state in states for v in state], outputs, strict=True):
        variable.assign(tf.ensure_shape(value, variable.shape))
    optimizer.iterations.assign_add(1)


def apply_by_layer(
    optimizer: keras.optimizers.Adam, gradients: Sequence[Any], variables: Sequence[keras.Variable], rates: LayerRates
) -> None:
    """The same update by TensorFlow's operations, for a GPU and for gradients that were clipped one by one.

    Args:
        optimizer: Built for `variables`, in this order.
        gradients: float32, one for each variable.
        variables: float32.
        rates: Layers with rates of their own.
    """
    alphas, trained = step_lengths(optimizer, len(variables), rates)  # (N,) each
    for number, (gradient, variable) in enumerate(zip(gradients, variables, strict=True)):
        momentum, velocity = optimizer._momentums[number], optimizer._velocities[number]
        first = momentum.value + (gradient - momentum.value) * (1.0 - optimizer.beta_1)
        second = velocity.value + (tf.square(gradient) - velocity.value) * (1.0 - optimizer.beta_2)
        moved = variable.value - first * alphas[number] / (tf.sqrt(second) + optimizer.epsilon)
        for one, value in ((momentum, first), (velocity, second), (variable, moved)):
            one.assign(tf.where(trained[number], value, one.value))
    optimizer.iterations.assign_add(1)


def step_lengths(optimizer: keras.optimizers.Adam, count: int, rates: LayerRates | None) -> tuple[Any, Any]:
    """Adam's rate of each variable, corrected for the start from zero, and whether it is trained: (N,) each."""
    steps: Any = optimizer.iterations.value + 1
    rate = tf.cast(optimizer.learning_rate, tf.float32)
    trained = tf.ones((count,), tf.bool)
    if rates is not None:
        steps, rate, trained = rates.count_step(), rate * rates.factors, rates.factors > 0.0
    step = tf.cast(steps, tf.float32)
    alphas = rate * (tf.sqrt(1.0 - tf.pow(optimizer.beta_2, step)) / (1.0 - tf.pow(optimizer.beta_1, step)))
    return tf.broadcast_to(alphas, (count,)), trained
