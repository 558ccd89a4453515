"""The epoch that is going on: where it stands and what it has summed up."""

import dataclasses
import math
from typing import Any

import numpy as np

from elman.errors import TrainingError
from elman.training.gradients import StepResult


@dataclasses.dataclass
class EpochSoFar:
    """Sums over the steps that an epoch has taken; divided once, at its end.

    Attributes:
        steps: Steps taken, skipped ones too; the place in the epoch's order of batches.
        tokens: Tokens read.
        nll_sum: Nats, over steps that were applied.
        count: Positions or documents that these nats are of.
        norms: Gradient norms of the applied steps, before clipping.
        skipped: Steps whose gradient was not finite.
        in_a_row: How many of them were the last ones.
        rate: The last step's learning rate.
        seconds: Time that the steps took.
        state: What the next step starts from; None before the first.
    """

    steps: int = 0
    tokens: int = 0
    nll_sum: float = 0.0
    count: int = 0
    norms: list[float] = dataclasses.field(default_factory=list)
    skipped: int = 0
    in_a_row: int = 0
    rate: float = 0.0
    seconds: float = 0.0
    state: tuple[Any, ...] | None = None

    def add(self, result: StepResult, *, tokens: int) -> None:
        """Takes a step's result in."""
        self.steps += 1
        self.tokens += tokens
        self.state = result.state
        if bool(result.applied):
            self.nll_sum, self.count = self.nll_sum + float(result.nll_sum), self.count + int(result.count)
            self.norms.append(float(result.gradient_norm))
            self.in_a_row = 0
        else:
            self.skipped, self.in_a_row = self.skipped + 1, self.in_a_row + 1

    def counters(self) -> dict[str, Any]:
        """All but the state, as plain values; floats come back from JSON as they were."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "state"}

    def logs(self, *, epoch: int, global_clipnorm: float | None) -> dict[str, float]:
        """What is logged of the epoch's training.

        Args:
            epoch: Counted from 1, for the message.
            global_clipnorm: The limit that norms are compared with, or None.

        Raises:
            TrainingError: No step was applied.
        """
        if not self.count:
            raise TrainingError(f"epoch {epoch}: no step had a finite gradient; lower learning_rate")
        limit = global_clipnorm if global_clipnorm is not None else math.inf
        return {
            "train/loss": self.nll_sum / self.count,
            "train/learning_rate": self.rate,
            "train/gradient_norm": float(np.mean(self.norms)),
            "train/clipped_fraction": float(np.mean(np.array(self.norms) > limit)),
            "train/skipped_steps": float(self.skipped),
            "train/seconds": self.seconds,
            "train/tokens_per_second": self.tokens / self.seconds,
        }
