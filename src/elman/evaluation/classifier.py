"""One trained classifier on one split."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from elman.data.document_batches import DocumentBatch, evaluation_batches
from elman.data.sequences import EncodedDocuments, cut_documents
from elman.metrics.calibration import expected_calibration_error, reliability
from elman.metrics.classification import accuracy, macro_f1
from elman.models.classifier import Classifier
from elman.models.scoring import ClassifierScores, make_classifier_scorer

BATCH_SIZE = 64  # documents at a time


class ClassifierEvaluation(NamedTuple):
    """Scores of each document, and the measures made from them."""

    scores: ClassifierScores
    measures: dict[str, float]


def score_documents(
    score: Callable[[Iterable[DocumentBatch]], ClassifierScores],
    split: EncodedDocuments,
    *,
    max_length: int,
    batch_size: int = BATCH_SIZE,
) -> ClassifierScores:
    """Scores every document once, those of about one length together; see `evaluate_classifier`.

    Args:
        score: From `make_classifier_scorer`.
        split: Encoded documents, one or more.
        max_length: Tokens of a document that are used, as in training.
        batch_size: Documents at a time; the result does not depend on it.
    """
    return score(evaluation_batches(cut_documents(split, max_length), batch_size=batch_size))


def evaluate_classifier(
    model: Classifier, split: EncodedDocuments, *, max_length: int, batch_size: int = BATCH_SIZE
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
    scores = score_documents(make_classifier_scorer(model), split, max_length=max_length, batch_size=batch_size)
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
