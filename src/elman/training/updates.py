"""Optimizer steps that change the weights where they lie, each weight and each moment in a single pass over memory.

`optimizer.apply` builds an update of up to ten operations, each of which reads and writes arrays of the size of the
embedding. TensorFlow has one operation each for plain SGD and for Adam; all else goes through `optimizer.apply`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from elman.training.layer_rates import LayerRates

# (gradients, float32 (N,) factor of each): changes the variables.
Update = Callable[[Sequence[Any], Any], None]


def make_update(
    optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable], rates: LayerRates | None = None
) -> Update:
    """Return what one step of the optimizer does with gradients.

    Args:
        optimizer: Built for `variables`, in this order.
        variables: What is trained.
        rates: Layers with rates of their own; what is frozen keeps weight and moments. The optimizer is Adam then.
    """
    if rates is not None or is_plain(optimizer, keras.optimizers.Adam, variables):
        return lambda gradients, factors: _apply_adam(optimizer, gradients, factors, variables, rates)
    if is_plain(optimizer, keras.optimizers.SGD, variables) and not optimizer.momentum:
        return lambda gradients, factors: _apply_sgd(optimizer, gradients, factors, variables)
    return lambda gradients, factors: optimizer.apply(_scaled(gradients, factors), variables)


def is_plain(optimizer: keras.optimizers.Optimizer, kind: type, variables: Sequence[keras.Variable]) -> bool:
    """Whether the optimizer is of this kind, without extras, for float32 on one device."""
    extras = (
        "amsgrad", "use_ema", "weight_decay", "gradient_accumulation_steps", "clipnorm", "global_clipnorm", "clipvalue",
        "loss_scale_factor",
    )  # fmt: skip
    plain = type(optimizer) is kind and not any(getattr(optimizer, name, None) for name in extras)
    own = all(variable.dtype == "float32" and variable.constraint is None for variable in variables)
    return plain and own and not tf.distribute.has_strategy()


def _scaled(gradients: Sequence[Any], factors: Any) -> list[Any]:
    return [g * factor for g, factor in zip(gradients, tf.unstack(factors, num=len(gradients)), strict=True)]


def _apply_sgd(
    optimizer: keras.optimizers.SGD, gradients: Sequence[Any], factors: Any, variables: Sequence[keras.Variable]
) -> None:
    """W -= learning_rate factor g. Rows of an embedding that have no gradient are not touched."""
    lengths = tf.unstack(tf.cast(optimizer.learning_rate, tf.float32) * factors, num=len(gradients))
    for gradient, length, variable in zip(gradients, lengths, variables, strict=True):
        handle = variable.value.handle
        if isinstance(gradient, tf.IndexedSlices):
            tf.raw_ops.ResourceScatterSub(resource=handle, indices=gradient.indices, updates=gradient.values * length)
        else:
            tf.raw_ops.ResourceApplyGradientDescent(var=handle, alpha=length, delta=gradient)
    optimizer.iterations.assign_add(1)


def _apply_adam(
    optimizer: keras.optimizers.Adam,
    gradients: Sequence[Any],
    factors: Any,
    variables: Sequence[keras.Variable],
    rates: LayerRates | None,
) -> None:
    """One step of Adam, with g the gradient times its factor.

        alpha = learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) in step t
        m += (1 - beta_1) (g - m)      v += (1 - beta_2) (g^2 - v)      w -= alpha m / (sqrt(v) + epsilon)

    References:
        kingma2015adam
    """
    steps, rate, trained = optimizer.iterations.value + 1, tf.cast(optimizer.learning_rate, tf.float32), None
    if rates is not None:
        steps, rate, trained = rates.count_step(), rate * rates.factors, rates.factors > 0.0
    step = tf.cast(steps, tf.float32)
    alphas = rate * tf.sqrt(1.0 - tf.pow(optimizer.beta_2, step)) / (1.0 - tf.pow(optimizer.beta_1, step))
    for number, (gradient, variable) in enumerate(zip(_scaled(gradients, factors), variables, strict=True)):
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
