"""The learning rate at each step."""

import math
from typing import Any

from elman.config import TrainingConfig


class Schedule:
    """constant | halve | plateau | cosine.

    With r the configured rate, e the epoch counted from 1, p the share of the whole training that is done:
    constant r; halve r / 2^max(0, e - k) with k = `halve_after_epoch` (Zaremba et al. 2014); cosine
    r (1 + cos(pi p)) / 2 (Loshchilov and Hutter 2017, without restarts); plateau r f^n with f = `plateau_factor` and n
    how often validation failed to improve for more than `plateau_patience` epochs.

    References:
        zaremba2014regularization, loshchilov2017sgdr
    """

    def __init__(self, config: TrainingConfig) -> None:
        self._config = config
        self._reductions = 0
        self._epochs_waited = 0

    def rate(self, epoch: int, share_of_epoch: float) -> float:
        """The rate for a step.

        Args:
            epoch: Counted from 0.
            share_of_epoch: 0 at the epoch's start, below 1 at its last step.
        """
        config = self._config
        if config.schedule == "halve":
            return config.learning_rate * 0.5 ** max(0, epoch + 1 - config.halve_after_epoch)
        if config.schedule == "cosine":
            done = (epoch + share_of_epoch) / config.epochs
            return config.learning_rate * 0.5 * (1.0 + math.cos(math.pi * done))
        if config.schedule == "plateau":
            return config.learning_rate * config.plateau_factor**self._reductions
        return config.learning_rate

    def end_epoch(self, *, improved: bool) -> None:
        """Tells the schedule whether validation improved on the best so far."""
        self._epochs_waited = 0 if improved else self._epochs_waited + 1
        if self._epochs_waited > self._config.plateau_patience:
            self._reductions += 1
            self._epochs_waited = 0

    def state(self) -> dict[str, Any]:
        """Counters, for a checkpoint."""
        return {"reductions": self._reductions, "epochs_waited": self._epochs_waited}

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of `state`."""
        self._reductions, self._epochs_waited = int(state["reductions"]), int(state["epochs_waited"])
