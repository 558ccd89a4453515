"""What the gate found: whether to promote, why, and every figure that the decision rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """The best champion that ever stood on a frozen test set; later challengers are held against it as well.

    The job keeps it (as JSON) beside the registry and hands it to the next gate; `GateResult.anchor` is the new one.

    Attributes:
        test_hash: `DocumentScores.test_hash` of the set. An anchor of another set says nothing and is left aside.
        value: Accuracy, or bits a byte.
        recalls: Hits and documents of each class, by class name; empty for a language model.
    """

    test_hash: str
    value: float
    recalls: Mapping[str, tuple[int, int]]

    def to_json(self) -> dict[str, Any]:
        """Strict JSON; `from_json` reads it."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: Any) -> "Anchor":
        """Reads what `to_json` wrote.

        Raises:
            MetricError: It is something else.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ClassRow:
    """One class of the frozen test set. Recalls are None where the set holds no document of the class."""

    name: str
    support: int
    challenger_recall: float | None
    champion_recall: float | None
    difference: float | None
    low: float | None
    high: float | None
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """A decision with its reasons.

    Attributes:
        promote: Whether the challenger takes the champion's place.
        reasons: Sentences. All reasons against, where it does not; what was shown, where it does.
        rule: superior, superior_by_margin, non_inferior or first.
        measure: accuracy or bits_per_byte.
        difference: How much better the challenger is, in the unit of the measure: above 0 is better for both measures.
            None where there is nothing to compare with.
        low: Lower end of its interval.
        high: Upper end.
        champion_value: Accuracy, or bits a byte.
        challenger_value: The same; None where its scores are not finite.
        documents: Documents of the frozen test set.
        test_hash: Names that set.
        per_class: A row a class; empty for a language model.
        anchor: What to hand to the next gate on this set; None where nothing is to be kept.
    """

    promote: bool
    reasons: tuple[str, ...]
    rule: str
    measure: str
    difference: float | None
    low: float | None
    high: float | None
    champion_value: float | None
    challenger_value: float | None
    documents: int
    test_hash: str
    per_class: tuple[ClassRow, ...]
    anchor: Anchor | None

    def to_json(self) -> dict[str, Any]:
        """Everything, as strict JSON."""
        raise NotImplementedError

    def text(self) -> str:
        """The decision and its reasons, a line each."""
        raise NotImplementedError
