"""Drift: whether new text is further from the champion's than chance would take it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elman.config import RetrainingConfig
from elman.retraining.drift_sample import DriftSample


@dataclass(frozen=True, kw_only=True)
class DriftMeasure:
    """One measure on both samples.

    Attributes:
        reference: Its value on the reference; None where it is no single number (the label mix).
        new: Its value on the new sample.
        distance: How far the two are apart, never below 0.
        threshold: Largest distance that is no alarm at these sizes; None where there is too little to say.
        alarm: Whether the distance is above the threshold.
    """

    reference: float | None
    new: float | None
    distance: float
    threshold: float | None
    alarm: bool


@dataclass(frozen=True, kw_only=True)
class DriftReport:
    """All measures: surprise, unk_share, byte_share, length, label_mix (those that both samples allow)."""

    measures: Mapping[str, DriftMeasure]
    reference_documents: int
    new_documents: int

    @property
    def alarms(self) -> tuple[str, ...]:
        """Names of the measures that raise an alarm."""
        return tuple(name for name, measure in self.measures.items() if measure.alarm)

    @property
    def coverage(self) -> float | None:
        """Share of the new sample's tokens that the tokenizer knows, for `min_coverage`; None without documents."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Everything, as strict JSON."""
        raise NotImplementedError

    def text(self) -> str:
        """A line a measure."""
        raise NotImplementedError


def drift_report(
    reference: DriftSample, new: DriftSample, config: RetrainingConfig, *, seed: int = 1, resamples: int = 4_000
) -> DriftReport:
    """Measures how far new text is from the reference, and holds it against what chance does at these sizes.

    Args:
        reference: Documents of the accepted data that the champion has not learned from.
        new: New documents.
        config: drift_false_alarms, the share of unchanged data in which any measure raises an alarm.
        seed: Of the draws.
        resamples: How often to draw.
    """
    raise NotImplementedError
