"""The training loop of both tasks.

Keras' `fit` averages the loss by rows, cannot carry state beside the batch and restores only the epoch; this loop
divides sums by counts, carries state, and goes on from a checkpoint as if it had never stopped. What it drives is
Keras: model, optimizer, and callbacks through `keras.callbacks.CallbackList`.
"""

import itertools
import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import keras
import numpy as np

from elman.config import ClassifierConfig, TrainingConfig
from elman.errors import TrainingError
from elman.training.checkpoint import Checkpoint, Progress
from elman.training.epoch_so_far import EpochSoFar
from elman.training.gradients import make_optimizer, make_train_step
from elman.training.layer_rates import LayerRates, layer_depths
from elman.training.objectives import Objective
from elman.training.schedules import Schedule
from elman.training.stop_signals import StopSignals

_START = Progress(
    epochs_done=0, history=[], best_epoch=-1, best_value=math.inf, epochs_since_best=0, schedule={}, finished=False
)


class Fitted(NamedTuple):
    """What training leaves, beside the model, which has the best epoch's weights.

    Attributes:
        history: One dict of logged values an epoch.
        best_epoch: Counted from 1.
    """

    history: list[dict[str, float]]
    best_epoch: int


def fit(
    objective: Objective,
    config: TrainingConfig,
    *,
    checkpoint: Checkpoint | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> Fitted:
    """Trains `objective.model` and leaves it with the weights of the epoch with the lowest validation loss.

    SIGTERM, SIGHUP and Ctrl-C let the step that is going on end, save the state, and are passed on then.

    Args:
        objective: The task.
        config: Optimizer, schedule, epochs, clipping.
        checkpoint: Where to save, after each epoch and as often as it says, and to go on from.
        callbacks: Keras callbacks; `logs` at an epoch's end are the history's values. After a resume they are told the
            epochs that were done before, so that a record of the run is whole; at the beginning of training, `logs` has
            the `epochs_done` and the `steps_done` of the next one.

    Raises:
        TrainingError: Too many steps in a row had a gradient or loss that is not finite, or validation is not finite.
    """
    watchers = keras.callbacks.CallbackList(list(callbacks), model=objective.model)
    with StopSignals() as stop:
        training = _Training(objective, config, checkpoint, watchers, stop)
        training.run()
    for weight, value in zip(objective.model.weights, training.best, strict=True):
        weight.assign(value)
    watchers.on_train_end()
    return Fitted(training.progress.history, training.progress.best_epoch + 1)


class _Training:
    """A training on its way: what a checkpoint holds, and the moves that change it."""

    def __init__(
        self,
        objective: Objective,
        config: TrainingConfig,
        checkpoint: Checkpoint | None,
        watchers: keras.callbacks.CallbackList,
        stop: StopSignals,
    ) -> None:
        self.objective, self.config, self.checkpoint = objective, config, checkpoint
        self.watchers, self.stop = watchers, stop
        self.model = objective.model
        self.optimizer, self.schedule = make_optimizer(config), Schedule(config)
        self.rates = _layer_rates(self.model, config, self.optimizer)
        self.step = make_train_step(
            self.model,
            self.optimizer,
            objective.loss,
            objective.signature,
            global_clipnorm=config.global_clipnorm,
            clipnorm=config.clipnorm,
            rates=self.rates,
        )
        restored = checkpoint.load(self.model, self.optimizer) if checkpoint else None
        self.best, self.progress, self.so_far = restored or ([], _START, EpochSoFar())
        if self.progress.schedule:
            self.schedule.restore(self.progress.schedule)
        self.compiled = False

    def run(self) -> None:
        """All epochs that are left."""
        self.model.stop_training = False
        self.watchers.on_train_begin({"epochs_done": self.progress.epochs_done, "steps_done": self.so_far.steps})
        for epoch, logs in enumerate(self.progress.history):
            self.watchers.on_epoch_end(epoch, logs)
        while not self.progress.finished:
            epoch = self.progress.epochs_done
            self.watchers.on_epoch_begin(epoch)
            self._train_epoch(epoch)
            logs = self.so_far.logs(epoch=epoch + 1, global_clipnorm=self.config.global_clipnorm)
            logs |= self._validate(epoch)
            improved = logs["valid/loss"] < self.progress.best_value
            if improved:
                self.best = [np.asarray(weight.value) for weight in self.model.weights]
            self.schedule.end_epoch(improved=improved)
            self.watchers.on_epoch_end(epoch, logs)
            self.progress = self._advance(logs, improved=improved)
            self.so_far = EpochSoFar()
            self._save()
            self.stop.obey()

    def _train_epoch(self, epoch: int) -> None:
        """What is left of one pass over train."""
        so_far, per_epoch = self.so_far, self.objective.tokens_per_epoch
        if self.rates is not None:
            self.rates.start_epoch(epoch)
        started = time.perf_counter() - so_far.seconds
        batches = itertools.islice(self.objective.batches(epoch), so_far.steps, None)
        for index, batch in enumerate(batches, start=so_far.steps):
            self.watchers.on_train_batch_begin(index)
            so_far.rate = self.schedule.rate(epoch, so_far.tokens / per_epoch)
            self.optimizer.learning_rate.assign(so_far.rate)
            state = self.objective.first_state(batch) if so_far.state is None else so_far.state
            # The first step is compiled, which takes a while, and there is nothing new to save before its end.
            with nullcontext() if self.compiled else self.stop.at_once():
                result = self.step(*batch.tensors, state)
            so_far.add(result, tokens=batch.num_tokens)
            so_far.seconds = time.perf_counter() - started
            self.compiled = True
            self._stop_if_diverged(epoch)
            self.watchers.on_train_batch_end(index, {"tokens": so_far.tokens, "share": so_far.tokens / per_epoch})
            if self.checkpoint and (self.checkpoint.due or self.stop.asked is not None):
                self._save()
            self.stop.obey()

    def _validate(self, epoch: int) -> dict[str, float]:
        try:
            with self.stop.at_once():
                measures = self.objective.validate()
        except (SystemExit, KeyboardInterrupt):
            self._save()  # the epoch's steps are all done; what is left of it is its validation
            raise
        if not math.isfinite(measures["valid/loss"]):
            raise TrainingError(
                f"epoch {epoch + 1}: the validation loss is {measures['valid/loss']}; lower learning_rate"
            )
        return measures

    def _save(self) -> None:
        if self.checkpoint:
            self.checkpoint.save(self.model, self.optimizer, self.best, self.progress, self.so_far)

    def _advance(self, logs: dict[str, float], *, improved: bool) -> Progress:
        old, patience = self.progress, self.config.early_stopping_patience
        epochs_done = old.epochs_done + 1
        waited = 0 if improved else old.epochs_since_best + 1
        ended = epochs_done >= self.config.epochs or (patience is not None and waited >= patience)
        return Progress(
            epochs_done=epochs_done,
            history=[*old.history, logs],
            best_epoch=old.epochs_done if improved else old.best_epoch,
            best_value=logs["valid/loss"] if improved else old.best_value,
            epochs_since_best=waited,
            schedule=self.schedule.state(),
            finished=bool(self.model.stop_training) or ended,
        )

    def _stop_if_diverged(self, epoch: int) -> None:
        so_far = self.so_far
        if so_far.in_a_row >= self.config.max_skipped_steps:
            raise TrainingError(
                f"epoch {epoch + 1}, step {so_far.steps}: the loss or gradient was not finite {so_far.in_a_row} steps "
                f"in a row at learning rate {so_far.rate:g}; lower learning_rate or set global_clipnorm in params.yaml"
            )


def _layer_rates(
    model: keras.Model, config: TrainingConfig, optimizer: keras.optimizers.Optimizer
) -> LayerRates | None:
    """For a classifier whose layers are freed one by one, or learn at rates of their own."""
    if not (isinstance(config, ClassifierConfig) and config.by_layer):
        return None
    gradual = config.unfreeze == "gradual"
    return LayerRates(layer_depths(model), decay=config.rate_decay, gradual=gradual, optimizer=optimizer)
