"""What each rule of the gate asks, and the sentence that says what was found."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from elman.config import RetrainingConfig
from elman.retraining.comparison import MIN_DOCUMENTS, Compared
from elman.retraining.document_scores import DocumentScores
from elman.retraining.gate_result import Anchor

_ROUNDING = 1e-9  # a loss of exactly the margin is none above it
UNIFORM_BITS = 8.0  # bits a byte of a guess that takes all 256 bytes for equally likely

_ASKED = {
    "superior": "superior asks for a lower end above 0",
    "superior_by_margin": "both learned from the same data, so that only the seed is new, and then a lower end above "
    "{bar:.3g} is asked for (retraining.margin, or what two seeds may differ by)",
    "non_inferior": "non_inferior asks for a lower end above {bar:g} (retraining.margin)",
    "first": "a first champion has to be better than it, with a lower end above 0",
}


def most_frequent_class(scores: DocumentScores) -> DocumentScores:
    """The classifier that always answers the most frequent class of the test set, on the same documents."""
    assert scores.labels is not None
    chosen = int(np.argmax(np.bincount(scores.labels)))
    return DocumentScores(ids=scores.ids, labels=scores.labels, predicted=np.full(len(scores.ids), chosen))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a challenger is asked for; see `elman.retraining.gate.decide`."""

    classifier: bool
    rule: str
    config: RetrainingConfig
    anchor: Anchor | None
    seed_spread: float | None

    @property
    def bar(self) -> float:
        """What the lower end of the interval has to lie above.

        Two seeds of one training differ by a normal variable of sqrt(2) * seed_spread, were the spread known exactly.
        """
        if self.rule == "superior_by_margin":
            z = float(special.ndtri((1.0 + self.config.confidence) / 2.0))
            return max(self.config.margin, z * math.sqrt(2.0) * (self.seed_spread or 0.0))
        return -self.config.margin if self.rule == "non_inferior" else 0.0


def problems_of(value: float, compared: Compared | None, asked: Asked) -> list[str]:
    """Everything that a challenger's figure and its difference have against it, a sentence each."""
    found = [] if compared is None else _interval_problems(compared, asked)
    return [*found, *_value_problems(value, asked)]


def shown(value: float, compared: Compared | None, asked: Asked) -> str:
    """What speaks for a promotion, where nothing speaks against it."""
    figure = f"{'accuracy' if asked.classifier else 'bits a byte'} {value:.4f}"
    if compared is None:
        return f"{figure}; there is no champion yet, and no floor is missed"
    return f"{figure}; {_difference(compared, asked)}, which is enough for the rule {asked.rule}"


def _difference(compared: Compared, asked: Asked) -> str:
    rival = "what a first champion has to beat" if asked.rule == "first" else "the champion"
    return (
        f"the challenger is {compared.difference:+.4f} better than {rival} (interval {compared.low:.4f} to "
        f"{compared.high:.4f} at {asked.config.confidence:g})"
    )


def _interval_problems(compared: Compared, asked: Asked) -> list[str]:
    """Why the interval does not allow a promotion; nothing where it does.

    An interval of classifiers that differ on a handful of documents is too narrow: 5 to 0 lies above 0, and has a
    probability of 1 in 16. Where "better" is asked for, McNemar's exact test has to agree.
    """
    if compared.low is None:
        return [f"the test set has fewer than {MIN_DOCUMENTS} documents, too few to compare language models on"]
    said = _difference(compared, asked)
    if compared.low <= asked.bar:
        return [f"{said}; {_ASKED[asked.rule].format(bar=asked.bar)}"]
    chance = 1.0 - asked.config.confidence
    if asked.bar >= 0.0 and compared.only_first is not None and compared.p_value > chance:
        return [
            f"{said}, but only {compared.only_first} and {compared.only_second} test documents tell the two apart, "
            f"which chance explains (McNemar's exact test: p {compared.p_value:.3f})"
        ]
    return []


def _value_problems(value: float, asked: Asked) -> list[str]:
    """What the challenger's own figure has against it, whoever the champion is.

    The best champion so far bounds the sum of many small steps down: where each model may be worse by the margin than
    the one before, the tenth may be worse by ten margins than the first.
    """
    floor, margin, anchor = asked.config.floor, asked.config.margin, asked.anchor
    name, sign, least = ("accuracy", 1.0, "at least") if asked.classifier else ("bits a byte", -1.0, "at most")
    problems = []
    if floor is not None and sign * value < sign * floor:
        problems.append(f"{name} is {value:.4f}, and {least} {floor:g} is asked for (retraining.floor)")
    if anchor is not None and sign * value < sign * anchor.value - margin - _ROUNDING:
        problems.append(
            f"{name} is {value:.4f}, and the best champion so far had {anchor.value:.4f} on the same documents: worse "
            f"by more than {margin:g} (retraining.margin), however close the last champion is"
        )
    if asked.rule == "first" and not asked.classifier and value >= UNIFORM_BITS:
        problems.append(f"{name} is {value:.4f}; taking all bytes for equally likely gives {UNIFORM_BITS:g}")
    return problems
