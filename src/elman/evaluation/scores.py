"""scores.parquet: what a model scored on each document, for paired tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import TableWriter
from elman.data.sequences import EncodedDocuments, document_counts
from elman.evaluation.classifier import ClassifierEvaluation
from elman.evaluation.language_model import LanguageModelEvaluation
from elman.metrics.score_columns import CLASSIFIER_SCORES, LANGUAGE_MODEL_SCORES

Evaluation = ClassifierEvaluation | LanguageModelEvaluation


def write_scores(path: Path, seeds: Sequence[int], evaluations: Sequence[Evaluation], split: EncodedDocuments) -> None:
    """Writes a row for each seed and document.

    Args:
        path: The scores.parquet.
        seeds: A seed for each evaluation.
        evaluations: Of one task, on one split.
        split: That split.
    """
    schema = CLASSIFIER_SCORES if isinstance(evaluations[0], ClassifierEvaluation) else LANGUAGE_MODEL_SCORES
    with TableWriter(path, schema) as writer:
        for seed, evaluation in zip(seeds, evaluations, strict=True):
            if isinstance(evaluation, ClassifierEvaluation):
                scores = evaluation.scores
                columns: dict[str, Any] = {
                    "id": scores.ids,
                    "label": scores.labels,
                    "predicted": scores.predicted,
                    "probability": np.exp(scores.log_probabilities.max(axis=1)),
                    "nll_nats": scores.nll_nats,
                }
            else:
                columns = {
                    "id": np.arange(len(split)),
                    "nll_nats": evaluation.nll_nats,
                    **document_counts(split),
                }
            writer.write({"seed": np.full(len(columns["id"]), seed), **columns})
