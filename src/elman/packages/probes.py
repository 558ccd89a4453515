"""Stored predictions: eight texts and what the model said of them, to be said again wherever the package is loaded."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import tensorflow as tf

from elman.data.tokenizer import EOS_ID, Tokenizer
from elman.errors import ArtifactError
from elman.packages.package import Package, Probe
from elman.packages.versions import differing_versions
from elman.seeding import generator
from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel

_FIXED = (
    "",
    "The quick brown fox jumps over the lazy dog.",
    "0 1,234.5 % & <s> </s> ▁ «Zoë» 日本 \U0001f642",
    "to be or not to be, " * 20,
)
_DRAWN_PIECES = (3, 9, 27, 81)
_TOLERANCE = 1e-5  # of a probability, and of the nats a token relative to 1 + nats: what the order of float sums leaves
_TOLERANCE_MIXED = 0.05  # bfloat16 has eight bits, and machines round products in different places


def probe_texts(tokenizer: Tokenizer, *, seed: int) -> list[str]:
    """Four fixed texts, and four of random pieces of the tokenizer, so that rows of the embedding all over are read."""
    random = generator(seed, "probes")
    first = EOS_ID + 1
    drawn = (random.integers(first, tokenizer.vocab_size, count) for count in _DRAWN_PIECES)
    return [*_FIXED, *(tokenizer.decode(ids) for ids in drawn)]


def predict_probes(model: TextClassifier | TextLanguageModel, texts: Sequence[str]) -> tuple[Probe, ...]:
    """What the model says of the texts; a language model of each by itself."""
    with _full_precision():
        if isinstance(model, TextClassifier):
            answers = model.classify(texts)
            return tuple(
                Probe(text=text, probabilities=tuple(answer.probabilities.values()))
                for text, answer in zip(texts, answers, strict=True)
            )
        scores = model.score(texts, state="document")
        return tuple(
            Probe(text=text, nll_nats=score.nll_nats, num_tokens=score.num_tokens)
            for text, score in zip(texts, scores, strict=True)
        )


def check_probes(model: TextClassifier | TextLanguageModel, package: Package) -> None:
    """Compares the model's predictions with the stored ones.

    Raises:
        ArtifactError: One differs by more than rounding.
    """
    stored = package.manifest.probes
    found = predict_probes(model, [probe.text for probe in stored])
    tolerance = _TOLERANCE_MIXED if package.serving.mixed_precision else _TOLERANCE
    for number, (ours, theirs) in enumerate(zip(found, stored, strict=True), start=1):
        difference = _difference(ours, theirs)
        if not difference <= tolerance:
            raise ArtifactError(
                f"{package.folder}: the model's answer to stored text {number} differs by {difference:.2g} from the "
                f"stored one, and by {tolerance:g} at most it may; its files are as they were written. "
                f"{differing_versions(package.manifest.versions)} `elman doctor` checks what is computed here"
            )


def _difference(ours: Probe, theirs: Probe) -> float:
    """Of probabilities the largest difference; of a language model that of the nats a token, relative to 1 + nats."""
    if theirs.probabilities is not None and ours.probabilities is not None:
        if len(ours.probabilities) != len(theirs.probabilities):
            return float("inf")
        return float(np.max(np.abs(np.subtract(ours.probabilities, theirs.probabilities))))
    if ours.num_tokens != theirs.num_tokens:
        return float("inf")
    mine, other = (float(probe.nll_nats or 0.0) / float(probe.num_tokens or 1) for probe in (ours, theirs))
    return abs(mine - other) / (1.0 + abs(other))


@contextmanager
def _full_precision() -> Iterator[None]:
    """Products in float32 on GPUs that would round them to ten bits: the package may come from a CPU."""
    reduced = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        yield
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(reduced)
