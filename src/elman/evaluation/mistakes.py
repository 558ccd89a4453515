"""mistakes.json: the test documents that a classifier gets wrong and is most sure about."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elman.evaluation.document_texts import document_texts
from elman.models.scoring import ClassifierScores

SHOWN = 20
_CHARACTERS = 200  # of a document's text


def most_confident_mistakes(
    scores: Sequence[ClassifierScores], labels: Sequence[str], prepared: Path, *, shown: int = SHOWN
) -> list[dict[str, Any]]:
    """The mistakes with the highest probability, the surest first.

    The probability of a class is its mean over seeds, so that one seed's whim does not fill the list; the predicted
    class is the one with the highest mean. Such documents are where to look for wrong labels, cut texts and missing
    data.

    Args:
        scores: On test, one a seed.
        labels: Names of the classes.
        prepared: The prepared test split, for the texts and where they came from.
        shown: How many at most.

    Returns:
        Of each: id, label, predicted, probability (of the predicted class), label_probability, seeds_wrong, source,
        source_row and the first characters of the text.

    Raises:
        ArtifactError: The prepared text is missing, damaged, or lacks a document.
    """
    first = scores[0]
    mean = np.mean([np.exp(one.log_probabilities.astype(np.float64)) for one in scores], axis=0)  # (N, C)
    predicted = mean.argmax(axis=1)
    sureness = np.where(predicted == first.labels, -1.0, mean.max(axis=1))
    order = [int(row) for row in np.argsort(-sureness, kind="stable")[:shown] if sureness[row] > 0.0]
    wrong = np.sum([one.predicted != one.labels for one in scores], axis=0)
    texts = document_texts(prepared, {int(first.ids[row]) for row in order}, characters=_CHARACTERS)
    return [
        {
            "id": int(first.ids[row]),
            "label": labels[first.labels[row]],
            "predicted": labels[predicted[row]],
            "probability": float(mean[row, predicted[row]]),
            "label_probability": float(mean[row, first.labels[row]]),
            "seeds_wrong": int(wrong[row]),
            **texts[int(first.ids[row])],
        }
        for row in order
    ]
