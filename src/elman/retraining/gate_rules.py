"""What each rule of the gate asks, and the sentence that says what was found."""

import math

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


def problems_of(
    value: float,
    compared: Compared | None,
    *,
    classifier: bool,
    rule: str,
    config: RetrainingConfig,
    anchor: Anchor | None,
    seed_spread: float | None = None,
) -> list[str]:
    """Everything that a challenger's figure and its difference have against it, a sentence each."""
    found = [] if compared is None else _interval_problems(compared, rule=rule, config=config, seed_spread=seed_spread)
    return [*found, *_value_problems(value, classifier=classifier, rule=rule, config=config, anchor=anchor)]


def shown(value: float, compared: Compared | None, *, classifier: bool, rule: str, level: float) -> str:
    """What speaks for a promotion, where nothing speaks against it."""
    figure = f"{'accuracy' if classifier else 'bits a byte'} {value:.4f}"
    if compared is None:
        return f"{figure}; there is no champion yet, and no floor is missed"
    return f"{figure}; {_difference(compared, rule=rule, level=level)}, which is enough for the rule {rule}"


def _difference(compared: Compared, *, rule: str, level: float) -> str:
    rival = "what a first champion has to beat" if rule == "first" else "the champion"
    return (
        f"the challenger is {compared.difference:+.4f} better than {rival} (interval {compared.low:.4f} to "
        f"{compared.high:.4f} at {level:g})"
    )


def _bar(rule: str, config: RetrainingConfig, seed_spread: float | None) -> float:
    """What the lower end of the interval has to lie above.

    Two seeds of one training differ by a normal variable of sqrt(2) * seed_spread, were the spread known exactly.
    """
    if rule == "superior_by_margin":
        z = float(special.ndtri((1.0 + config.confidence) / 2.0))
        return max(config.margin, z * math.sqrt(2.0) * (seed_spread or 0.0))
    return -config.margin if rule == "non_inferior" else 0.0


def _interval_problems(
    compared: Compared, *, rule: str, config: RetrainingConfig, seed_spread: float | None
) -> list[str]:
    """Why the interval does not allow a promotion; nothing where it does.

    An interval of classifiers that differ on a handful of documents is too narrow: 5 to 0 lies above 0, and has a
    probability of 1 in 16. Where "better" is asked for, McNemar's exact test has to agree.
    """
    if compared.low is None:
        return [f"the test set has fewer than {MIN_DOCUMENTS} documents, too few to compare language models on"]
    bar = _bar(rule, config, seed_spread)
    said = _difference(compared, rule=rule, level=config.confidence)
    if compared.low <= bar:
        return [f"{said}; {_ASKED[rule].format(bar=bar)}"]
    if bar >= 0.0 and compared.only_first is not None and compared.p_value > 1.0 - config.confidence:
        return [
            f"{said}, but only {compared.only_first} and {compared.only_second} test documents tell the two apart, "
            f"which chance explains (McNemar's exact test: p {compared.p_value:.3f})"
        ]
    return []


def _value_problems(
    value: float, *, classifier: bool, rule: str, config: RetrainingConfig, anchor: Anchor | None
) -> list[str]:
    """What the challenger's own figure has against it, whoever the champion is.

    The best champion so far bounds the sum of many small steps down: where each model may be worse by the margin than
    the one before, the tenth may be worse by ten margins than the first.
    """
    name, sign = ("accuracy", 1.0) if classifier else ("bits a byte", -1.0)
    problems = []
    if config.floor is not None and sign * value < sign * config.floor:
        least = "at least" if classifier else "at most"
        problems.append(f"{name} is {value:.4f}, and {least} {config.floor:g} is asked for (retraining.floor)")
    if anchor is not None and sign * value < sign * anchor.value - config.margin - _ROUNDING:
        problems.append(
            f"{name} is {value:.4f}, and the best champion so far had {anchor.value:.4f} on the same documents: worse "
            f"by more than {config.margin:g} (retraining.margin), however close the last champion is"
        )
    if rule == "first" and not classifier and value >= UNIFORM_BITS:
        problems.append(f"{name} is {value:.4f}; taking all bytes for equally likely gives {UNIFORM_BITS:g}")
    return problems
