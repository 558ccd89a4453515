"""Scores of a model on batches: the one place where a negative log-likelihood is computed."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from elman.data.document_batches import DocumentBatch
from elman.data.stream_windows import Window
from elman.models.classifier import Classifier
from elman.models.compiled import compiled
from elman.models.encoder import State
from elman.models.language_model import LanguageModel

IDS = tf.TensorSpec((None, None), tf.int32)  # (B, T)
MASK = tf.TensorSpec((None, None), tf.bool)  # (B, T)
ROWS = tf.TensorSpec((None,), tf.int32)  # (B,)
FLAGS = tf.TensorSpec((None,), tf.bool)  # (B,)


class ClassifierScores(NamedTuple):
    """One row a document, in the order of its id.

    Attributes:
        ids: int64 (N,).
        labels: int32 (N,).
        log_probabilities: float32 (N, C).
    """

    ids: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32]
    log_probabilities: npt.NDArray[np.float32]

    @property
    def predicted(self) -> npt.NDArray[np.int64]:
        """int64 (N,): the most probable class."""
        return self.log_probabilities.argmax(axis=1)

    @property
    def nll_nats(self) -> npt.NDArray[np.float64]:
        """float64 (N,): -ln p of each document's label."""
        rows = np.arange(len(self.labels))
        return -self.log_probabilities[rows, self.labels].astype(np.float64)


def classifier_nll(
    model: Classifier, token_ids: Any, padding_mask: Any, labels: Any, *, training: bool
) -> tuple[Any, Any]:
    """float32 (B,) negative log-likelihood in nats, and float32 (B, C) logits."""
    logits = model(token_ids, padding_mask=padding_mask, training=training)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits), logits


def language_model_rows(
    model: LanguageModel, token_ids: Any, targets: Any, padding_mask: Any, state: State, *, training: bool
) -> tuple[Any, Any, State]:
    """Hidden outputs float (N, U) and targets int32 (N,) of the N real positions, row by row, and the new state."""
    hidden, state = model.encode(token_ids, padding_mask, state, training)  # (B, T, U)
    return tf.boolean_mask(hidden, padding_mask), tf.boolean_mask(targets, padding_mask), state


def state_spec(model: LanguageModel | Classifier) -> tuple[tf.TensorSpec, ...]:
    """The signature of a carried state."""
    return tuple(tf.TensorSpec((None, part.shape[1]), part.dtype) for part in model.encoder.zero_state(1))


def next_rows(state: State, keep: Any, reset: Any) -> State:
    """The state that a window starts from.

    Args:
        state: What the previous window returned, float (B', U) each.
        keep: int32 (B,). Where each row stood in the previous window.
        reset: bool (B,). True where a document or stream starts: its state is zero.
    """
    return tuple(tf.where(reset[:, None], tf.zeros((), part.dtype), tf.gather(part, keep)) for part in state)


def make_classifier_scorer(model: Classifier) -> Callable[[Iterable[DocumentBatch]], ClassifierScores]:
    """Compiles a scorer that can be called again after each epoch."""

    @compiled([IDS, MASK])
    def log_probabilities(token_ids: Any, padding_mask: Any) -> Any:
        return tf.nn.log_softmax(model(token_ids, padding_mask=padding_mask, training=False))

    def score(batches: Iterable[DocumentBatch]) -> ClassifierScores:
        parts = [
            (batch.ids, batch.labels, log_probabilities(batch.token_ids, batch.padding_mask).numpy())
            for batch in batches
        ]
        ids, labels, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(ids, kind="stable")
        return ClassifierScores(ids[order], labels[order], scores[order])

    return score


class LanguageModelScorer:
    """Nats of each target; compiled once, for any number of calls.

    Args:
        model: The language model.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

        @compiled([IDS, IDS, MASK, ROWS, FLAGS, state_spec(model)])
        def window_nll(
            token_ids: Any, targets: Any, padding_mask: Any, keep: Any, reset: Any, state: State
        ) -> tuple[Any, State]:
            state = next_rows(state, keep, reset)
            hidden, real, state = language_model_rows(model, token_ids, targets, padding_mask, state, training=False)
            return model.nll(hidden, real), state

        self._window_nll = window_nll
        self._dtypes = [part.dtype for part in state_spec(model)]

    def nll(self, token_ids: Any, targets: Any, padding_mask: Any, state: State) -> tuple[npt.NDArray[np.float32], Any]:
        """Scores a window of rows that go on.

        Args:
            token_ids: int32 (B, T). Inputs.
            targets: int32 (B, T). What follows each input.
            padding_mask: bool (B, T). At least one real step in each row.
            state: float (B, U) each. The state of each row.

        Returns:
            float32 (N,) nats of the N real targets, row by row, and the new state.
        """
        rows = np.arange(len(token_ids), dtype=np.int32)
        state = tuple(tf.cast(part, dtype) for part, dtype in zip(state, self._dtypes, strict=True))
        nats, state = self._window_nll(token_ids, targets, padding_mask, rows, np.zeros(len(rows), bool), state)
        return nats.numpy(), state

    def __call__(
        self, windows: Iterable[Window], num_tokens: int, *, state: State | None = None
    ) -> tuple[npt.NDArray[np.float64], State | None]:
        """Scores every target of the windows.

        Args:
            windows: Those of a split, in order.
            num_tokens: Of the split.
            state: What an earlier call returned, for windows that go on where that one ended; None for zeros.

        Returns:
            float64 (tokens,) nats of each target, as in the flat ids, and the state after the last window.
        """
        nats = np.zeros(num_tokens, np.float64)
        for window in windows:
            if state is None:
                state = self._model.encoder.zero_state(len(window.token_ids))
            nll, state = self._window_nll(
                window.token_ids, window.targets, window.padding_mask, window.keep, window.reset, state
            )
            nats[window.places[window.padding_mask]] = nll.numpy()
        return nats, state
