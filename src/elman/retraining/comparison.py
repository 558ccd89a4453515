"""Two models on the same documents: how much better is the first, and between which ends does that lie?"""

import math
from typing import NamedTuple

import numpy as np

from elman.metrics.mcnemar import mcnemar
from elman.metrics.paired_bootstrap import bootstrapped, resampled_totals
from elman.metrics.paired_proportions import paired_proportions
from elman.retraining.document_scores import DocumentScores

MIN_DOCUMENTS = 20  # of a language model's test set: the bootstrap of fewer gives intervals that are too narrow


class Compared(NamedTuple):
    """How much better one model is than another; above 0 is better for both measures.

    Attributes:
        difference: Accuracy gained, or bits a byte saved.
        low: Lower end of the two-sided interval; None where there are too few documents for one.
        high: Upper end.
        p_value: Two-sided, for no difference: McNemar's exact test, or the bootstrap.
        only_first: Documents that only the first gets right; None for language models.
        only_second: Documents that only the second gets right.
    """

    difference: float
    low: float | None
    high: float | None
    p_value: float
    only_first: int | None = None
    only_second: int | None = None


def value_of(scores: DocumentScores) -> float:
    """Accuracy of a classifier, bits a byte of a language model: sums divided once."""
    if scores.is_classifier:
        return float(scores.right.mean())
    assert scores.nll_nats is not None
    assert scores.num_bytes is not None
    return float(scores.nll_nats.sum() / (math.log(2.0) * scores.num_bytes.sum()))


def compare(first: DocumentScores, second: DocumentScores, *, level: float, seed: int) -> Compared:
    """The paired difference of two models, documents in the same order.

    Classifiers by Tango's interval and McNemar's exact test, from the documents that only one gets right. Language
    models by drawing documents with replacement: the ratio of the summed difference in bits to the summed bytes, so
    that it does not matter how each model cuts a document into tokens.

    Args:
        first: N documents.
        second: The same.
        level: Of the two-sided interval.
        seed: Of the draws.

    References:
        tango1998equivalence, mcnemar1947note, koehn2004statistical in docs/references.bib.
    """
    if first.is_classifier:
        test = mcnemar(first.right, second.right)
        found = paired_proportions(
            only_first=test.only_first, only_second=test.only_second, documents=len(first.ids), level=level
        )
        return Compared(*found, test.p_value, test.only_first, test.only_second)
    assert first.nll_nats is not None
    assert first.num_bytes is not None
    assert second.nll_nats is not None
    saved = (second.nll_nats - first.nll_nats) / math.log(2.0)  # bits, (N,)
    difference = float(saved.sum() / first.num_bytes.sum())
    if len(saved) < MIN_DOCUMENTS:
        return Compared(difference, None, None, 1.0)
    totals = resampled_totals(np.stack([saved, first.num_bytes.astype(np.float64)], axis=1), seed=seed)
    drawn = bootstrapped(difference, totals[:, 0] / totals[:, 1], documents=len(saved), level=level)
    return Compared(difference, drawn.low, drawn.high, drawn.p_value)
