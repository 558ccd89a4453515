"""When to train: all reasons that hold, the strongest first."""

from dataclasses import dataclass
from typing import Any

from elman.config import RetrainingConfig
from elman.retraining.drift_report import DriftReport, sentence


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
        return "; ".join(self.sentences)

    def to_json(self) -> dict[str, Any]:
        """Kinds and sentences, as strict JSON."""
        return {"kinds": list(self.kinds), "sentences": list(self.sentences)}


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
        config: min_new_rows, min_drift_rows and max_age_days.
        forced: Whether a person asked for it.
        has_champion: Whether a model is in use.
        new_rows: Texts that no training has seen.
        age_days: Days since the champion was made; None without one.
        drift: The report on the new data; None where none was made. Most of the champion's documents stay the old ones
            for long after the text has changed, so that new rows differ from them again and again: without a least
            number of them, a handful would bring a training each night.
    """
    found: dict[str, str] = {}
    if forced:
        found["forced"] = "it was asked for"
    if not has_champion:
        found["no_champion"] = "there is no champion yet"
    if new_rows >= config.min_new_rows:
        found["new_rows"] = f"{new_rows:,} new rows, {config.min_new_rows:,} are enough (retraining.min_new_rows)"
    if age_days is not None and age_days > config.max_age_days:
        limit = f"{config.max_age_days:g} days (retraining.max_age_days)"
        found["age"] = f"the champion is {age_days:.1f} days old, older than {limit}"
    if drift is not None and drift.alarms and new_rows >= config.drift_rows:
        found["drift"] = "drift: " + "; ".join(sentence(name, drift.measures[name]) for name in drift.alarms)
    return Reason(kinds=tuple(found), sentences=tuple(found.values())) if found else None


def next_reason(config: RetrainingConfig, *, has_champion: bool, new_rows: int, age_days: float | None) -> str:
    """What would be the next reason, in a sentence: for `elman status`."""
    reason = reason_to_train(
        config, forced=False, has_champion=has_champion, new_rows=new_rows, age_days=age_days, drift=None
    )
    if reason is not None:
        return f"now: {reason.text}"
    ways = [f"{config.min_new_rows - new_rows:,} more new rows"]
    if age_days is not None:
        ways.append(f"{config.max_age_days - age_days:.1f} more days")
    if config.drift_rows < config.min_new_rows:
        missing = config.drift_rows - new_rows
        ways.append("drift" if missing <= 0 else f"{missing:,} more new rows with drift")
    return ", or ".join(ways)
