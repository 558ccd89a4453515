"""Models whose true quality is known, for simulations of the gate: what they score on the documents of a test set."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elman.retraining.gate import DocumentScores

R8_TEST = {"acq": 696, "crude": 121, "earn": 1083, "grain": 10, "interest": 81, "money-fx": 87, "ship": 36, "trade": 75}
QUALITIES = np.arange(-8.0, 25.0, 0.4)
SPREAD = 4.0  # of the documents' logits: two models of 95 % differ on 4 % of them, as two seeds of a network do


@dataclass(frozen=True)
class LabelledSet:
    """Labelled documents, some easier than others.

    Attributes:
        names: Of the classes.
        labels: int (N,).
        logits: float64 (N,). Of being right, for a model of average quality.
    """

    names: tuple[str, ...]
    labels: np.ndarray
    logits: np.ndarray

    @cached_property
    def accuracies(self) -> np.ndarray:
        """Share of the documents that a model of each of `QUALITIES` gets right on average over its seeds."""
        return np.array([np.mean(1.0 / (1.0 + np.exp(-self.logits - quality))) for quality in QUALITIES])

    def quality(self, accuracy: float) -> float:
        """The quality at which `accuracy` is reached."""
        return float(np.interp(accuracy, self.accuracies, QUALITIES))


def draw_test_set(random: np.random.Generator, documents: int = sum(R8_TEST.values())) -> LabelledSet:
    """Documents with the classes of R8's test set; of another size, classes drawn with its shares."""
    sizes = np.array(list(R8_TEST.values()))
    if documents != sizes.sum():
        sizes = random.multinomial(documents, sizes / sizes.sum())
    labels = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return LabelledSet(tuple(R8_TEST), labels, random.normal(0.0, SPREAD, documents))


def draw_classifier(random: np.random.Generator, test: LabelledSet, accuracy: float) -> DocumentScores:
    """One seed of a classifier whose accuracy is `accuracy` on average; where it is wrong, any other class."""
    right = random.random(len(test.labels)) < 1.0 / (1.0 + np.exp(-test.logits - test.quality(accuracy)))
    others = (test.labels + random.integers(1, len(test.names), len(test.labels))) % len(test.names)
    return DocumentScores(
        ids=np.arange(len(test.labels)), labels=test.labels, predicted=np.where(right, test.labels, others)
    )


def draw_shuffled(random: np.random.Generator, test: LabelledSet) -> DocumentScores:
    """A classifier that learned from shuffled labels: it answers each class as often as it is met."""
    return DocumentScores(
        ids=np.arange(len(test.labels)), labels=test.labels, predicted=random.permutation(test.labels)
    )


@dataclass(frozen=True)
class Texts:
    """Documents for language models: their bytes, and the bits a byte of an average model; (N,)."""

    num_bytes: np.ndarray
    bits_per_byte: np.ndarray


def draw_texts(random: np.random.Generator, documents: int) -> Texts:
    """Documents of 10 to some thousand bytes, in which a byte takes 1.3 +- 0.25 bits."""
    num_bytes = np.maximum(10, random.lognormal(np.log(300.0), 1.0, documents)).astype(np.int64)
    return Texts(num_bytes, 1.3 + random.normal(0.0, 0.25, documents))


def draw_language_model(
    random: np.random.Generator, texts: Texts, worse_by: float = 0.0, spread: float = 0.5
) -> DocumentScores:
    """One seed of a language model that takes `worse_by` bits a byte more than the average one.

    Args:
        random: Source of chance.
        texts: N documents.
        worse_by: Bits a byte.
        spread: What a seed adds to the bits of one byte; it falls with the root of a document's length.
    """
    noise = random.normal(0.0, spread, len(texts.num_bytes)) / np.sqrt(texts.num_bytes)
    bits = texts.num_bytes * np.maximum(0.05, texts.bits_per_byte + worse_by + noise)
    return DocumentScores(ids=np.arange(len(bits)), nll_nats=bits * np.log(2.0), num_bytes=texts.num_bytes)
