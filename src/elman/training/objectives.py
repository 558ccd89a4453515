"""What each task gives the training loop: batches of an epoch, the loss, and validation."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import keras
import tensorflow as tf

from elman.config import ClassifierConfig, LanguageModelConfig
from elman.data.document_batches import evaluation_batches, training_batches
from elman.data.label_share import labelled_share
from elman.data.sequences import EncodedDocuments, cut_documents, perplexity_counts
from elman.data.stream_windows import evaluation_windows, training_windows
from elman.metrics.classification import accuracy, macro_f1
from elman.metrics.perplexity import perplexity_block
from elman.models.classifier import Classifier
from elman.models.language_model import LanguageModel
from elman.models.scoring import (
    FLAGS,
    IDS,
    MASK,
    ROWS,
    LanguageModelScorer,
    classifier_nll,
    language_model_rows,
    make_classifier_scorer,
    next_rows,
    state_spec,
)
from elman.training.adversarial import adversarial_nll


class Batch(NamedTuple):
    """The tensors of one step, and how many tokens they hold."""

    tensors: tuple[Any, ...]
    num_tokens: int


class Objective(Protocol):
    """What the loop needs of a task."""

    model: keras.Model
    signature: list[Any]
    tokens_per_epoch: int

    def batches(self, epoch: int) -> Iterator[Batch]:
        """All of train once, in an order that seed and epoch name."""

    def first_state(self, batch: Batch) -> tuple[Any, ...]:
        """The carried state before an epoch's first batch."""

    def loss(self, *arguments: Any) -> tuple[Any, Any, Any]:
        """(tensors, state) -> summed nats, count, new state."""

    def validate(self) -> dict[str, float]:
        """Measures on the validation split; "valid/loss" is the one that chooses the best epoch."""


def classifier_loss(
    model: Classifier, token_ids: Any, padding_mask: Any, labels: Any, state: Any, *, epsilon: float = 0.0
) -> tuple[Any, Any, Any]:
    """Summed nats of the labels, the number of documents, and the state as it came.

    Args:
        model: Built.
        token_ids: int32 (B, T).
        padding_mask: bool (B, T).
        labels: int32 (B,).
        state: Carried on as it is.
        epsilon: Where above 0, the mean with the nats of shifted documents is taken; see `adversarial_nll`.
    """
    if epsilon > 0.0:
        nll = adversarial_nll(model, token_ids, padding_mask, labels, epsilon=epsilon)
    else:
        nll, _ = classifier_nll(model, token_ids, padding_mask, labels, training=True)
    return tf.reduce_sum(nll), tf.size(labels), state


def language_model_loss(
    model: LanguageModel, token_ids: Any, targets: Any, padding_mask: Any, keep: Any, reset: Any, state: Any
) -> tuple[Any, Any, Any]:
    """Summed nats of the targets, their number, and the state after the window."""
    state = next_rows(state, keep, reset)
    hidden, real, state = language_model_rows(model, token_ids, targets, padding_mask, state, training=True)
    return model.nll_sum(hidden, real), tf.size(real), state


class ClassifierObjective:
    """Documents in buckets of similar length."""

    def __init__(
        self,
        model: Classifier,
        config: ClassifierConfig,
        train: EncodedDocuments,
        valid: EncodedDocuments,
        *,
        seed: int,
    ) -> None:
        self.model = model
        self.signature = [IDS, MASK, ROWS, ()]
        self._config, self._seed = config, seed
        train = labelled_share(train, fraction=config.label_fraction, seed=seed)
        self._train, self._valid = (cut_documents(split, config.max_length) for split in (train, valid))
        self.tokens_per_epoch = self._train.num_tokens
        self._score = make_classifier_scorer(model)

    def batches(self, epoch: int) -> Iterator[Batch]:
        """Buckets, shuffled by seed and epoch."""
        size = self._config.batch_size
        for batch in training_batches(self._train, batch_size=size, seed=self._seed, epoch=epoch):
            yield Batch((batch.token_ids, batch.padding_mask, batch.labels), int(batch.padding_mask.sum()))

    def first_state(self, batch: Batch) -> tuple[Any, ...]:
        """Documents are whole in a batch: nothing is carried."""
        del batch
        return ()

    def loss(self, token_ids: Any, padding_mask: Any, labels: Any, state: Any) -> tuple[Any, Any, Any]:
        """See `classifier_loss`."""
        epsilon = self._config.adversarial_epsilon
        return classifier_loss(self.model, token_ids, padding_mask, labels, state, epsilon=epsilon)

    def validate(self) -> dict[str, float]:
        """Mean nats a document, accuracy and macro-F1."""
        scores = self._score(evaluation_batches(self._valid, batch_size=self._config.batch_size))
        return {
            "valid/loss": float(scores.nll_nats.mean()),
            "valid/accuracy": accuracy(scores.labels, scores.predicted),
            "valid/macro_f1": macro_f1(scores.labels, scores.predicted, self.model.spec.num_classes),
        }


class LanguageModelObjective:
    """Windows of streams side by side, with carried state."""

    def __init__(
        self,
        model: LanguageModel,
        config: LanguageModelConfig,
        train: EncodedDocuments,
        valid: EncodedDocuments,
        *,
        seed: int,
    ) -> None:
        self.model = model
        self.signature = [IDS, IDS, MASK, ROWS, FLAGS, state_spec(model)]
        self._config, self._train, self._valid, self._seed = config, train, valid, seed
        self.tokens_per_epoch = train.num_tokens
        self._score = LanguageModelScorer(model)

    def batches(self, epoch: int) -> Iterator[Batch]:
        """Windows of the epoch's streams."""
        for window in training_windows(
            self._train,
            mode=self._config.state,
            rows=self._config.batch_size,
            window_length=self._config.window_length,
            seed=self._seed,
            epoch=epoch,
        ):
            tensors = (window.token_ids, window.targets, window.padding_mask, window.keep, window.reset)
            yield Batch(tensors, int(window.padding_mask.sum()))

    def first_state(self, batch: Batch) -> tuple[Any, ...]:
        """Zeros."""
        return self.model.encoder.zero_state(len(batch.tensors[0]))

    def loss(
        self, token_ids: Any, targets: Any, padding_mask: Any, keep: Any, reset: Any, state: Any
    ) -> tuple[Any, Any, Any]:
        """See `language_model_loss`."""
        return language_model_loss(self.model, token_ids, targets, padding_mask, keep, reset, state)

    def validate(self) -> dict[str, float]:
        """Mean nats a token, and the perplexities."""
        valid = self._valid
        windows = evaluation_windows(
            valid,
            mode=self._config.state,
            rows=self._config.batch_size,
            window_length=self._config.window_length,
        )
        nats, _ = self._score(windows, valid.num_tokens)
        block = perplexity_block(nll_nats=float(nats.sum()), **perplexity_counts(valid))
        names = {"nll_nats_per_token": "loss", "perplexity": "perplexity", "bits_per_byte": "bits_per_byte"}
        return {f"valid/{name}": value for key, name in names.items() if (value := block[key]) is not None}
