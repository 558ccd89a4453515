"""The classifier that weighs words: TF-IDF with logistic regression, often as good as a network on short topics."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from elman.errors import MetricError
from elman.metrics.classification import accuracy

GRID = (1.0, 10.0, 100.0, 1000.0)  # of C, the inverse strength of the L2 penalty
RARE_IN_MANY = 1000  # documents from which on a word or pair that stands in one of them only is left out
MAX_ITERATIONS = 1000

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer]


class LabelledTexts(NamedTuple):
    """Documents of a split.

    Attributes:
        texts: The prepared text of each.
        labels: int (N,).
    """

    texts: Sequence[str]
    labels: IntArray


class TfidfScores(NamedTuple):
    """What the model that was chosen says about test.

    Attributes:
        c: The inverse strength of its penalty.
        num_weights: Weights and biases of the model.
        log_probabilities: float64 (N, C). Nats; minus infinity for classes that train does not show.
    """

    c: float
    num_weights: int
    log_probabilities: FloatArray


def score_tfidf(
    *, train: LabelledTexts, valid: LabelledTexts, test: LabelledTexts, num_classes: int, grid: Sequence[float] = GRID
) -> TfidfScores:
    """Fits on train for every C of the grid and scores test with the one that is most accurate on validation.

    A document is the counts of its words and pairs of neighbouring words, each 1 + ln(count), times how rare it is,
    1 + ln((1 + N) / (1 + documents with it)), divided by the length of the whole vector. Of equally accurate C the
    smallest is taken, the most penalty.

    Args:
        train: What the model learns from.
        valid: What C is chosen on.
        test: What is scored.
        num_classes: C, the number of classes.
        grid: Inverse strengths of the penalty, ascending.

    Raises:
        MetricError: A split is empty, lacks labels or holds one that train does not; train holds one class or no word.
    """
    known = _check(train=train, valid=valid, test=test)
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2),
        token_pattern=r"(?u)\b\w+\b",
        sublinear_tf=True,
        min_df=2 if len(train.texts) >= RARE_IN_MANY else 1,
    )
    try:
        features = vectorizer.fit_transform(train.texts)  # (N, words and pairs)
    except ValueError as error:
        raise MetricError(f"TF-IDF finds no words in the train split: {error}") from None
    held_out = vectorizer.transform(valid.texts)
    models = [LogisticRegression(C=c, max_iter=MAX_ITERATIONS).fit(features, train.labels) for c in grid]
    right = [accuracy(valid.labels, model.predict(held_out)) for model in models]
    best = int(np.argmax(right))
    logits = models[best].decision_function(vectorizer.transform(test.texts))
    if logits.ndim == 1:  # of two classes only the second has logits
        logits = np.stack([np.zeros_like(logits), logits], axis=1)
    log_probabilities = np.full((len(test.texts), num_classes), -np.inf)
    log_probabilities[:, known] = log_softmax(logits, axis=1)
    num_weights = models[best].coef_.size + models[best].intercept_.size
    return TfidfScores(grid[best], num_weights, log_probabilities)


def _check(**splits: LabelledTexts) -> npt.NDArray[np.int64]:
    """The classes of train, in order."""
    for name, (texts, labels) in splits.items():
        if len(texts) == 0 or labels.min() < 0:
            missing = int(np.sum(labels < 0))
            raise MetricError(f"TF-IDF needs labels: {name} holds {len(texts)} documents, {missing} of them without")
    known = np.unique(splits["train"].labels).astype(np.int64)
    if len(known) < 2:
        raise MetricError(f"TF-IDF needs two or more classes; train holds class {known[0]} only")
    for name, (_, labels) in splits.items():
        if unknown := sorted(set(labels.tolist()) - set(known.tolist())):
            raise MetricError(f"{name} holds the classes {unknown}, which train does not; run `dvc repro prepare`")
    return known
