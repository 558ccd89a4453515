"""The training loop of the studies: Adam on fresh batches, with a look at fresh data now and then."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from elman.errors import TrainingError

_CLIPNORM = 1.0  # of all gradients together; without it simple networks diverge on long sequences


def run_updates(
    loss: Callable[..., Any],
    variables: Sequence[keras.Variable],
    draw: Callable[[], tuple[Any, ...]],
    *,
    steps: int,
    learning_rate: float,
    checks: int,
    check: Callable[[], float],
) -> list[tuple[int, float]]:
    """Runs `steps` updates; the learning rate falls to zero along a cosine.

    Args:
        loss: Takes the arrays of a batch, gives float32 ().
        variables: What is trained.
        draw: A fresh batch; its arrays may differ in length.
        steps: How many updates.
        learning_rate: Adam's, at the start.
        checks: How many times `check` is called, evenly spread, the last time after the last update.
        check: A measure on data that training does not see.

    Returns:
        Step (counted from 1) and value of each check.

    Raises:
        TrainingError: The loss is not finite.
    """
    schedule = keras.optimizers.schedules.CosineDecay(learning_rate, steps)
    optimizer = keras.optimizers.Adam(schedule, global_clipnorm=_CLIPNORM)
    optimizer.build(variables)

    @tf.function(reduce_retracing=True)
    def update(*batch: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(*batch)
        optimizer.apply(tape.gradient(value, [variable.value for variable in variables]), variables)
        return value

    at = {math.ceil(steps * (number + 1) / checks) for number in range(checks)}
    seen = []
    for step in range(1, steps + 1):
        value = update(*[tf.convert_to_tensor(array) for array in draw()])
        if step in at:
            if not math.isfinite(float(value)):
                raise TrainingError(
                    f"the loss is {float(value)} at step {step}: lower the learning rate {learning_rate}"
                )
            seen.append((step, check()))
    return seen
