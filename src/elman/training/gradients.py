"""One optimizer step that is clipped by a norm that is said, and never spoils the weights."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from elman.config import TrainingConfig
from elman.models.compiled import compiled
from elman.training.layer_rates import LayerRates
from elman.training.updates import make_update


class StepResult(NamedTuple):
    """What a training step tells.

    Attributes:
        nll_sum: float32 (). Negative log-likelihood summed over real positions or documents, in nats.
        count: int32 (). How many those were.
        gradient_norm: float32 (). Of all gradients together, before clipping.
        applied: bool (). False when the norm or the loss was not finite; the weights are as before then.
        state: What the next step of the same rows starts from.
    """

    nll_sum: Any
    count: Any
    gradient_norm: Any
    applied: Any
    state: Any


# (batch tensors, state) -> (nll_sum, count, new state)
Loss = Callable[..., tuple[Any, Any, Any]]


def make_optimizer(config: TrainingConfig) -> keras.optimizers.Optimizer:
    """The optimizer; clipping is done by the training step, which also reports the norm."""
    if config.optimizer == "sgd":
        return keras.optimizers.SGD(config.learning_rate)
    if config.optimizer == "adamw":
        return keras.optimizers.AdamW(config.learning_rate, weight_decay=config.weight_decay)
    return keras.optimizers.Adam(config.learning_rate)


def clip_factors(norms: Any, *, global_clipnorm: float | None = None, clipnorm: float | None = None) -> Any:
    """Factors that scale gradients down to a largest norm.

    `global_clipnorm` scales all by min(1, limit / norm of all together), which keeps their direction; this is what the
    literature means (Pascanu et al. 2013). `clipnorm` scales each variable alone, as Keras' argument of that name does.

    Args:
        norms: float (N,). The norm of each gradient.
        global_clipnorm: The limit for all together, or None.
        clipnorm: The limit for each alone, or None.

    Returns:
        float (N,). The factor of each gradient.

    Example:
        >>> norms = tf.constant([3.0, 4.0])
        >>> [round(float(factor), 6) for factor in clip_factors(norms, global_clipnorm=1.0)]
        [0.2, 0.2]
        >>> [round(float(factor), 6) for factor in clip_factors(norms, clipnorm=1.0)]
        [0.333333, 0.25]

    References:
        pascanu2013difficulty
    """
    if global_clipnorm is not None:
        return tf.broadcast_to(_factor(tf.norm(norms), global_clipnorm), tf.shape(norms))
    if clipnorm is not None:
        return _factor(norms, clipnorm)
    return tf.ones_like(norms)


def _factor(norm: Any, limit: float) -> Any:
    return tf.minimum(1.0, limit / tf.maximum(norm, 1e-30))


def make_train_step(
    model: keras.Model,
    optimizer: keras.optimizers.Optimizer,
    loss: Loss,
    signature: Sequence[Any],
    *,
    global_clipnorm: float | None,
    clipnorm: float | None,
    rates: LayerRates | None = None,
) -> Callable[..., StepResult]:
    """Compiles forward, backward, clipping and update into one graph, traced once for all shapes of the signature.

    Args:
        model: Built.
        optimizer: Its variables are made here.
        loss: Takes the tensors of `signature`; the step's loss is nll_sum / count.
        signature: tf.TensorSpec of each argument; the last one is the state (a tuple, possibly empty).
        global_clipnorm: See `clip`.
        clipnorm: See `clip`.
        rates: Layers with rates of their own; a frozen one counts in no norm. The optimizer is Adam then.
    """
    variables = model.trainable_variables
    optimizer.build(variables)
    update = make_update(optimizer, variables, rates)

    @compiled(signature)
    def train_step(*arguments: Any) -> StepResult:
        with tf.GradientTape() as tape:
            nll_sum, count, state = loss(*arguments)
        # Gradients of the sum: the division by the count joins the other factors of the update, which would be a pass
        # over all weights of its own. Slices of an embedding hold a row once for each occurrence; only their sum has
        # the right norm.
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(nll_sum, [v.value for v in variables])]
        if rates is not None:
            trained = tf.unstack(rates.factors > 0.0)
            gradients = [tf.where(own, g, tf.zeros_like(g)) for own, g in zip(trained, gradients, strict=True)]
        share = 1.0 / tf.cast(count, tf.float32)
        norms = share * tf.sqrt(2.0 * tf.stack([tf.nn.l2_loss(gradient) for gradient in gradients]))
        norm = tf.norm(norms)
        finite = tf.math.is_finite(norm) & tf.math.is_finite(nll_sum)

        def apply() -> Any:
            update(gradients, share * clip_factors(norms, global_clipnorm=global_clipnorm, clipnorm=clipnorm))
            return tf.constant(True)

        applied = tf.cond(finite, apply, lambda: tf.constant(False))
        state = tuple(tf.where(finite, part, tf.zeros_like(part)) for part in state)
        return StepResult(nll_sum, count, norm, applied, state)

    return train_step
