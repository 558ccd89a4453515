"""When to train: all reasons that hold, the strongest first."""

from dataclasses import dataclass
from typing import Any

from elman.config import RetrainingConfig
from elman.retraining.drift import DriftReport


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why to train.

    Attributes:
        kinds: Of forced, no_champion, new_rows, age, drift: those that hold, in this order.
        sentences: One for each kind.
    """

    kinds: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences in one line."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Kinds and sentences, as strict JSON."""
        raise NotImplementedError


def reason_to_train(
    config: RetrainingConfig,
    *,
    forced: bool,
    has_champion: bool,
    new_rows: int,
    age_days: float | None,
    drift: DriftReport | None,
) -> Reason | None:
    """All reasons to train now; None where there is none.

    Args:
        config: min_new_rows and max_age_days.
        forced: Whether a person asked for it.
        has_champion: Whether a model is in use.
        new_rows: Texts that the champion's data lacks.
        age_days: Days since the champion was made; None without one.
        drift: The report on the new data; None where none was made.
    """
    raise NotImplementedError


def next_reason(config: RetrainingConfig, *, has_champion: bool, new_rows: int, age_days: float | None) -> str:
    """What would be the next reason, in a sentence: for `elman status`."""
    raise NotImplementedError
