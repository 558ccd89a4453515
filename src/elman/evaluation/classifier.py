"""One trained classifier on one split."""

from typing import NamedTuple

import numpy as np

from elman.data.document_batches import evaluation_batches
from elman.data.sequences import EncodedDocuments, cut_documents
from elman.metrics.calibration import expected_calibration_error, reliability
from elman.metrics.classification import accuracy, macro_f1
from elman.models.classifier import Classifier
from elman.models.scoring import ClassifierScores, make_classifier_scorer


class ClassifierEvaluation(NamedTuple):
    """Scores of each document, and the measures made from them."""

    scores: ClassifierScores
    measures: dict[str, float]


def evaluate_classifier(
    model: Classifier, split: EncodedDocuments, *, max_length: int, batch_size: int = 64
) -> ClassifierEvaluation:
    """Scores every document once.

    Args:
        model: The classifier.
        split: Encoded documents with labels.
        max_length: Tokens of a document that are used, as in training.
        batch_size: Documents at a time; the result does not depend on it.

    Returns:
        Scores by document id, and accuracy, macro_f1, nll_nats_per_document and expected_calibration_error.
    """
    score = make_classifier_scorer(model)
    scores = score(evaluation_batches(cut_documents(split, max_length), batch_size=batch_size))
    return ClassifierEvaluation(
        scores,
        {
            "accuracy": accuracy(scores.labels, scores.predicted),
            "macro_f1": macro_f1(scores.labels, scores.predicted, model.spec.num_classes),
            "nll_nats_per_document": float(np.mean(scores.nll_nats)),
            "expected_calibration_error": expected_calibration_error(
                reliability(np.exp(scores.log_probabilities.max(axis=1)), scores.predicted == scores.labels)
            ),
        },
    )
