"""The training loop of both tasks.

Keras' `fit` averages the loss by rows, cannot carry state beside the batch and restores only the epoch; this loop
divides sums by counts, carries state, and goes on from a checkpoint as if it had never stopped. What it drives is
Keras: model, optimizer, and callbacks through `keras.callbacks.CallbackList`.
"""

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from elman.config import TrainingConfig
from elman.errors import TrainingError
from elman.training.checkpoint import Checkpoint, Progress
from elman.training.gradients import StepResult, make_optimizer, make_train_step
from elman.training.objectives import Objective
from elman.training.schedules import Schedule

_START = Progress(
    epochs_done=0, history=[], best_epoch=-1, best_value=math.inf, epochs_since_best=0, schedule={}, finished=False
)


class Fitted(NamedTuple):
    """What training leaves, beside the model, which has the best epoch's weights.

    Attributes:
        history: One dict of logged values an epoch.
        best_epoch: Counted from 1.
        resumed_from: Epochs that an earlier process had done.
    """

    history: list[dict[str, float]]
    best_epoch: int
    resumed_from: int


def fit(
    objective: Objective,
    config: TrainingConfig,
    *,
    checkpoint: Checkpoint | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> Fitted:
    """Trains `objective.model` and leaves it with the weights of the epoch with the lowest validation loss.

    Args:
        objective: The task.
        config: Optimizer, schedule, epochs, clipping.
        checkpoint: Where to save after each epoch and go on from.
        callbacks: Keras callbacks; `logs` at an epoch's end are the history's values. After a resume they are told the
            epochs that were done before, so that a record of the run is whole.

    Raises:
        TrainingError: Too many steps in a row had a gradient or loss that is not finite, or validation is not finite.
    """
    model = objective.model
    optimizer, schedule = make_optimizer(config), Schedule(config)
    step = make_train_step(
        model,
        optimizer,
        objective.loss,
        objective.signature,
        global_clipnorm=config.global_clipnorm,
        clipnorm=config.clipnorm,
    )
    restored = checkpoint.load(model, optimizer) if checkpoint else None
    best, progress = restored or ([], _START)
    if progress.schedule:
        schedule.restore(progress.schedule)
    resumed_from = progress.epochs_done

    watchers = keras.callbacks.CallbackList(list(callbacks), model=model)
    model.stop_training = False
    watchers.on_train_begin()
    for epoch, logs in enumerate(progress.history):
        watchers.on_epoch_end(epoch, logs)

    while not progress.finished:
        epoch = progress.epochs_done
        watchers.on_epoch_begin(epoch)
        logs = _train_epoch(objective, step, optimizer, schedule, config, epoch, watchers)
        logs |= objective.validate()
        if not math.isfinite(logs["valid/loss"]):
            raise TrainingError(f"epoch {epoch + 1}: the validation loss is {logs['valid/loss']}; lower learning_rate")
        improved = logs["valid/loss"] < progress.best_value
        if improved:
            best = [np.asarray(weight.value) for weight in model.weights]
        schedule.end_epoch(improved=improved)
        watchers.on_epoch_end(epoch, logs)
        progress = _advance(progress, config, logs, schedule, improved=improved, stop=bool(model.stop_training))
        if checkpoint:
            checkpoint.save(model, optimizer, best, progress)
    for weight, value in zip(model.weights, best, strict=True):
        weight.assign(value)
    watchers.on_train_end()
    return Fitted(progress.history, progress.best_epoch + 1, resumed_from)


def _advance(
    progress: Progress,
    config: TrainingConfig,
    logs: dict[str, float],
    schedule: Schedule,
    *,
    improved: bool,
    stop: bool,
) -> Progress:
    epochs_done = progress.epochs_done + 1
    waited = 0 if improved else progress.epochs_since_best + 1
    patience = config.early_stopping_patience
    return Progress(
        epochs_done=epochs_done,
        history=[*progress.history, logs],
        best_epoch=progress.epochs_done if improved else progress.best_epoch,
        best_value=logs["valid/loss"] if improved else progress.best_value,
        epochs_since_best=waited,
        schedule=schedule.state(),
        finished=stop or epochs_done >= config.epochs or (patience is not None and waited >= patience),
    )


def _train_epoch(
    objective: Objective,
    step: Any,
    optimizer: keras.optimizers.Optimizer,
    schedule: Schedule,
    config: TrainingConfig,
    epoch: int,
    watchers: keras.callbacks.CallbackList,
) -> dict[str, float]:
    """One pass over train; sums first, one division at the end."""
    nll_sum, count, tokens, norms, skipped, in_a_row = 0.0, 0, 0, [], 0, 0
    limit = config.global_clipnorm if config.global_clipnorm is not None else math.inf
    state: Any = None
    rate = 0.0
    started = time.perf_counter()
    for index, batch in enumerate(objective.batches(epoch)):
        watchers.on_train_batch_begin(index)
        rate = schedule.rate(epoch, tokens / objective.tokens_per_epoch)
        optimizer.learning_rate.assign(rate)
        if state is None:
            state = objective.first_state(batch)
        result: StepResult = step(*batch.tensors, state)
        state = result.state
        tokens += batch.num_tokens
        if bool(result.applied):
            nll_sum, count, in_a_row = nll_sum + float(result.nll_sum), count + int(result.count), 0
            norms.append(float(result.gradient_norm))
        else:
            skipped, in_a_row = skipped + 1, in_a_row + 1
            _stop_if_diverged(in_a_row, epoch, index, rate, config)
        watchers.on_train_batch_end(index, {"tokens": tokens, "share": tokens / objective.tokens_per_epoch})
    seconds = time.perf_counter() - started
    if not count:
        raise TrainingError(f"epoch {epoch + 1}: no step had a finite gradient; lower learning_rate")
    return {
        "train/loss": nll_sum / count,
        "train/learning_rate": rate,
        "train/gradient_norm": float(np.mean(norms)),
        "train/clipped_fraction": float(np.mean(np.array(norms) > limit)),
        "train/skipped_steps": float(skipped),
        "train/seconds": seconds,
        "train/tokens_per_second": tokens / seconds,
    }


def _stop_if_diverged(in_a_row: int, epoch: int, index: int, rate: float, config: TrainingConfig) -> None:
    if in_a_row >= config.max_skipped_steps:
        raise TrainingError(
            f"epoch {epoch + 1}, step {index + 1}: the loss or gradient was not finite {in_a_row} steps in a row at "
            f"learning rate {rate:g}; lower learning_rate or set global_clipnorm in params.yaml"
        )
