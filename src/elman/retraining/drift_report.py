"""What was found about drift, for a person and as JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_UNITS = {
    "surprise": "bits a byte",
    "unk_share": "of the tokens are unknown",
    "byte_share": "of the tokens are byte pieces",
    "length": "tokens a document (geometric mean)",
}
_DISTANCES = {"length": " doublings", "label_mix": " of 1 (Hellinger distance)"}


@dataclass(frozen=True, kw_only=True)
class DriftMeasure:
    """One measure on both samples.

    Attributes:
        reference: Its value on the reference; None where it is no single number (the label mix).
        new: Its value on the new sample.
        distance: How far the two are apart, never below 0: bits a byte, a rise of a share, doublings of the length, or
            of label mixes Hellinger's distance, 0 to 1.
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
    """All measures: surprise, unk_share, byte_share, length, label_mix (those that both samples allow).

    Attributes:
        measures: By name; empty where one of the samples is.
        reference_documents: N.
        new_documents: n.
        unknown_tokens: Tokens of the new sample without a piece of their own: unk and byte pieces.
        new_tokens: All tokens of the new sample.
    """

    measures: Mapping[str, DriftMeasure]
    reference_documents: int
    new_documents: int
    unknown_tokens: int = 0
    new_tokens: int = 0

    @property
    def alarms(self) -> tuple[str, ...]:
        """Names of the measures that raise an alarm."""
        return tuple(name for name, measure in self.measures.items() if measure.alarm)

    @property
    def coverage(self) -> float | None:
        """Share of the new sample's tokens that the tokenizer knows, for `min_coverage`; None without documents."""
        return 1.0 - self.unknown_tokens / self.new_tokens if self.new_tokens else None

    def to_json(self) -> dict[str, Any]:
        """Everything, as strict JSON."""
        return {
            "reference_documents": self.reference_documents,
            "new_documents": self.new_documents,
            "coverage": self.coverage,
            "alarms": list(self.alarms),
            "measures": {name: asdict(measure) for name, measure in self.measures.items()},
        }

    def text(self) -> str:
        """A line a measure."""
        if not self.measures:
            return f"no drift to measure: {self.reference_documents} reference and {self.new_documents} new documents"
        return "\n".join(sentence(name, measure) for name, measure in self.measures.items())


def sentence(name: str, measure: DriftMeasure) -> str:
    """One measure in a line: both values, their distance and what chance allows."""
    both = ""
    if measure.reference is not None and measure.new is not None:
        both = f"{measure.reference:.4g} before and {measure.new:.4g} now, {_UNITS[name]}; "
    allowed = "too few documents to say how far chance goes"
    if measure.threshold is not None:
        allowed = f"chance goes to {measure.threshold:.3g}" + (": an alarm" if measure.alarm else "")
    return f"{name}: {both}{measure.distance:.3g}{_DISTANCES.get(name, '')} apart, {allowed}"
