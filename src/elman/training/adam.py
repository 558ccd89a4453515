"""Keras' Adam by TensorFlow's one operation for it: a single pass that changes weights and moments where they lie.

`optimizer.apply` builds the same update of about ten operations, each of which reads and writes arrays of the size of
the embedding.
"""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from elman.training.layer_rates import LayerRates


def is_plain_adam(optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable]) -> bool:
    """Whether `apply_adam` does what `optimizer.apply` does: Adam without extras, in float32, on one device."""
    plain = type(optimizer) is keras.optimizers.Adam and not (
        optimizer.amsgrad or optimizer.use_ema or optimizer.weight_decay or optimizer.gradient_accumulation_steps
        or optimizer.clipnorm or optimizer.global_clipnorm or optimizer.clipvalue or optimizer.loss_scale_factor
    )  # fmt: skip
    own = all(variable.dtype == "float32" and variable.constraint is None for variable in variables)
    return plain and own and not tf.distribute.has_strategy()


def apply_adam(
    optimizer: keras.optimizers.Adam,
    gradients: Sequence[Any],
    variables: Sequence[keras.Variable],
    *,
    rates: LayerRates | None = None,
) -> None:
    """Update variables, moments and the count of steps, as `optimizer.apply` would.

        m += (1 - beta_1) (g - m)      v += (1 - beta_2) (g^2 - v)      w -= alpha m / (sqrt(v) + epsilon)

    with alpha = learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) in step t.

    Args:
        optimizer: Built for `variables`, in this order; see `is_plain_adam`.
        gradients: float32, one for each variable.
        variables: float32.
        rates: Layers with rates of their own; what is frozen keeps weight and moments.

    References:
        kingma2015adam
    """
    steps, rate, trained = optimizer.iterations.value + 1, tf.cast(optimizer.learning_rate, tf.float32), None
    if rates is not None:
        steps, rate, trained = rates.count_step(), rate * rates.factors, rates.factors > 0.0
    step = tf.cast(steps, tf.float32)
    alphas = rate * tf.sqrt(1.0 - tf.pow(optimizer.beta_2, step)) / (1.0 - tf.pow(optimizer.beta_1, step))
    for number, (gradient, variable) in enumerate(zip(gradients, variables, strict=True)):
        alpha, beta_1, beta_2 = alphas, optimizer.beta_1, optimizer.beta_2
        if trained is not None:  # moments that forget nothing and a step of length 0 leave all bits as they are
            own = trained[number]
            alpha, beta_1, beta_2 = alphas[number], tf.where(own, beta_1, 1.0), tf.where(own, beta_2, 1.0)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.value.handle,
            m=optimizer._momentums[number].value.handle,
            v=optimizer._velocities[number].value.handle,
            beta1_power=0.0,  # alpha has the corrections for the start from zero already
            beta2_power=0.0,
            lr=alpha,
            beta1=beta_1,
            beta2=beta_2,
            epsilon=optimizer.epsilon,
            grad=gradient,
        )
    optimizer.iterations.assign_add(1)
