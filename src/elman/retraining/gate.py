"""The gate: whether a challenger takes the champion's place, decided on the documents of one frozen test set."""

from collections.abc import Sequence

from elman.config import RetrainingConfig
from elman.errors import MetricError
from elman.retraining.class_floors import class_rows, hits_by_class
from elman.retraining.comparison import compare, value_of
from elman.retraining.document_scores import DocumentScores
from elman.retraining.gate_result import Anchor, ClassRow, GateResult
from elman.retraining.gate_rules import Asked, most_frequent_class, problems_of, shown

__all__ = ["Anchor", "ClassRow", "DocumentScores", "GateResult", "decide"]


def decide(
    challenger: DocumentScores,
    champion: DocumentScores | None,
    config: RetrainingConfig,
    *,
    class_names: Sequence[str] = (),
    seed: int = 1,
    new_data: bool = True,
    seed_spread: float | None = None,
    anchor: Anchor | None = None,
    baseline: DocumentScores | None = None,
) -> GateResult:
    """Compares the two models by document and says whether to promote.

    The lower end of the interval of the difference has to be above 0 (superior) or above minus the margin
    (non_inferior). Then each class, the absolute floor and the best champion so far are looked at. All reasons against
    are given, not only the first one.

    Args:
        challenger: The new model on the frozen test set.
        champion: The model in use on the same documents; None where there is none yet.
        config: rule, margin, confidence, max_class_loss and floor.
        class_names: Names of the classes by id; a classifier needs them.
        seed: Of the bootstrap draws (language model).
        new_data: Whether the challenger learned from other data than the champion (compare the hashes of the train
            splits). Where it did not, only its seed is new: then it has to be better by more than the margin,
            whatever the rule.
        seed_spread: Standard deviation of the measure over seeds of this training, where several were trained. Without
            new data it widens the margin to what two seeds may differ by.
        anchor: The best champion so far on this set, from the last `GateResult.anchor`; keeps a chain of models, each a
            little worse than the one before, from sliding down.
        baseline: For a first champion: a model without a network that it has to beat (unigram, TF-IDF). Without it a
            classifier is held against the most frequent class, and a language model against 8 bits a byte.

    Raises:
        MetricError: The models were scored on other documents, the champion's scores are not finite, or a class has no
            name.
    """
    champion = _checked(challenger, champion, class_names)
    if anchor is not None and anchor.test_hash != challenger.test_hash:
        anchor = None
    rule = "first" if champion is None else config.rule if new_data else "superior_by_margin"
    classifier = challenger.is_classifier
    asked = Asked(classifier=classifier, rule=rule, config=config, anchor=anchor, seed_spread=seed_spread)
    value = compared = None
    against = ["the scores of the challenger are not finite numbers on some test documents"]
    if challenger.is_finite:
        value = value_of(challenger)
        rival = champion if champion is not None else _least(challenger, baseline)
        compared = None if rival is None else compare(challenger, rival, level=config.confidence, seed=seed)
        against = problems_of(value, compared, asked)
    rows = _class_rows(challenger, champion, config, class_names=class_names, anchor=anchor)
    against += [row.problem for row in rows if row.problem]
    reasons = against
    if value is not None and not against:
        reasons = [shown(value, compared, asked)]
    return GateResult(
        promote=not against,
        reasons=tuple(reasons),
        rule=rule,
        measure="accuracy" if classifier else "bits_per_byte",
        difference=compared.difference if compared else None,
        low=compared.low if compared else None,
        high=compared.high if compared else None,
        champion_value=None if champion is None else value_of(champion),
        challenger_value=value,
        documents=len(challenger.ids),
        test_hash=challenger.test_hash,
        per_class=rows,
        anchor=_best(anchor, [champion, None if against else challenger], class_names),
    )


def _checked(
    challenger: DocumentScores, champion: DocumentScores | None, class_names: Sequence[str]
) -> DocumentScores | None:
    """The champion in the challenger's order, after what no decision can be made on has been refused."""
    for scores in (challenger, champion):
        if scores is None or scores.labels is None or scores.predicted is None:
            continue
        least, largest = int(scores.predicted.min()), int(max(scores.labels.max(), scores.predicted.max()))
        if least < 0 or largest >= len(class_names):
            raise MetricError(
                f"{len(class_names)} classes have names, and the scores hold ids from {min(least, 0)} to {largest}: is "
                "the label map that of these models?"
            )
    if champion is None:
        return None
    if not champion.is_finite:
        raise MetricError(
            "the scores of the champion are not finite numbers on some test documents, so that nothing can be held "
            "against them; `elman rollback` puts the champion before it back"
        )
    return champion.in_order_of(challenger)


def _least(challenger: DocumentScores, baseline: DocumentScores | None) -> DocumentScores | None:
    """What a first champion has to beat: a baseline that came, or the most frequent class."""
    if baseline is not None:
        return baseline.in_order_of(challenger)
    return most_frequent_class(challenger) if challenger.is_classifier else None


def _class_rows(
    challenger: DocumentScores,
    champion: DocumentScores | None,
    config: RetrainingConfig,
    *,
    class_names: Sequence[str],
    anchor: Anchor | None,
) -> tuple[ClassRow, ...]:
    if not challenger.is_classifier:
        return ()
    return class_rows(
        challenger,
        champion,
        class_names=class_names,
        max_class_loss=config.max_class_loss,
        level=config.confidence,
        best=None if anchor is None else anchor.recalls,
    )


def _best(
    anchor: Anchor | None, champions: Sequence[DocumentScores | None], class_names: Sequence[str]
) -> Anchor | None:
    """The best of the champions up to now; of equals the earliest."""
    for scores in champions:
        if scores is None:
            continue
        value = value_of(scores)
        if anchor is None or (value > anchor.value if scores.is_classifier else value < anchor.value):
            recalls = hits_by_class(scores, class_names) if scores.is_classifier else {}
            anchor = Anchor(test_hash=scores.test_hash, value=value, recalls=recalls)
    return anchor
