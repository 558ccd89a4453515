"""The gate: whether a challenger takes the champion's place, decided on the documents of one frozen test set."""

from collections.abc import Sequence

from elman.config import RetrainingConfig
from elman.retraining.document_scores import DocumentScores
from elman.retraining.gate_result import Anchor, ClassRow, GateResult

__all__ = ["Anchor", "ClassRow", "DocumentScores", "GateResult", "decide"]


def decide(
    challenger: DocumentScores,
    champion: DocumentScores | None,
    config: RetrainingConfig,
    *,
    class_names: Sequence[str] = (),
    seed: int = 1,
    new_data: bool = True,
    anchor: Anchor | None = None,
    baseline: DocumentScores | None = None,
) -> GateResult:
    """Compares the two models by document and says whether to promote.

    Args:
        challenger: The new model on the frozen test set.
        champion: The model in use on the same documents; None where there is none yet.
        config: rule, margin, confidence, max_class_loss and floor.
        class_names: Names of the classes by id; a classifier needs them.
        seed: Of the bootstrap draws (language model).
        new_data: Whether the challenger learned from other data than the champion (compare the hashes of the train
            splits). Where it did not, only its seed is new: then it has to be better by more than the margin,
            whatever the rule.
        anchor: The best champion so far on this set, from the last `GateResult.anchor`; keeps a chain of models, each a
            little worse than the one before, from sliding down.
        baseline: For a first champion: a model without a network that it has to beat (unigram). A classifier is
            always held against the most frequent class.

    Raises:
        MetricError: The models were scored on other documents, the champion's scores are not finite, or a class has no
            name.
    """
    raise NotImplementedError
