"""What the gate found: whether to promote, why, and every figure that the decision rests on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from elman.errors import MetricError


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
        recalls = {name: list(counts) for name, counts in self.recalls.items()}
        return {"test_hash": self.test_hash, "value": self.value, "recalls": recalls}

    @classmethod
    def from_json(cls, value: Any) -> "Anchor":
        """Reads what `to_json` wrote.

        Raises:
            MetricError: It is something else.
        """
        try:
            recalls = {str(name): (int(hits), int(support)) for name, (hits, support) in value["recalls"].items()}
            return cls(test_hash=str(value["test_hash"]), value=float(value["value"]), recalls=recalls)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise MetricError(f"the record of the best champion cannot be read ({error!r}); delete it") from None


@dataclass(frozen=True)
class ClassRow:
    """One class of the frozen test set.

    Attributes:
        name: Of the class.
        support: Its documents in the set.
        challenger_recall: Share of them that the challenger gets right; None where there are none.
        champion_recall: The same of the champion; None without one, too.
        difference: Challenger minus champion.
        low: Lower end of its interval.
        high: Upper end.
        problem: Why this class stands against a promotion; None where it does not.
    """

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
            None where there is nothing to compare with, or no comparing.
        low: Lower end of its interval.
        high: Upper end.
        champion_value: Accuracy, or bits a byte; None without a champion.
        challenger_value: The same; None where its scores are not finite.
        documents: Documents of the frozen test set.
        test_hash: Names that set.
        per_class: A row a class; empty for a language model.
        anchor: What to hand to the next gate on this set; None where there is no champion after this.
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
        value = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("per_class", "anchor")}
        value["reasons"] = list(self.reasons)
        value["per_class"] = [asdict(row) for row in self.per_class]
        value["anchor"] = None if self.anchor is None else self.anchor.to_json()
        return value

    def text(self) -> str:
        """The decision and its reasons, a line each."""
        return "\n".join(["promoted" if self.promote else "not promoted", *(f"  {line}" for line in self.reasons)])
