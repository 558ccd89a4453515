"""A classifier over a text that comes in pieces: the encoder's state and the pooled outputs are carried."""

from typing import Any, NamedTuple

import tensorflow as tf

from elman.data.tokenizer import EOS_ID
from elman.models.classifier import Classifier
from elman.models.compiled import compiled
from elman.models.encoder import State, states_per_layer
from elman.models.scoring import IDS, MASK, state_spec

_LOWEST = -1e4  # as in SequencePooling


class Running(NamedTuple):
    """What is carried, of B texts.

    Attributes:
        state: float (B, U) each. The encoder's.
        total: float32 (B, U). The sum of the outputs at all steps.
        highest: float32 (B, U). Their maximum.
    """

    state: State
    total: Any
    highest: Any


class RunningClassifier:
    """Reads tokens and says at any time what the classifier would say if the text ended there.

    Pooling needs the last state, the sum and the maximum over the steps and their number, so that nothing grows with
    the text.

    Args:
        model: A classifier that reads in one direction.
    """

    def __init__(self, model: Classifier) -> None:
        self._model = model
        units = model.spec.units
        pooled = tf.TensorSpec((None, units), tf.float32)
        running = Running(state_spec(model), pooled, pooled)
        counts = tf.TensorSpec((None,), tf.float32)
        self.read = compiled([IDS, MASK, running])(self._read)
        self.log_probabilities = compiled([running, counts])(self._log_probabilities)

    def start(self) -> Running:
        """Before the first token of one text."""
        units = self._model.spec.units
        return Running(self._model.encoder.zero_state(1), tf.zeros((1, units)), tf.fill((1, units), _LOWEST))

    def _read(self, token_ids: Any, padding_mask: Any, before: Running) -> Running:
        """Takes tokens in: int32 (B, T), bool (B, T)."""
        encoded = self._model.encoder(token_ids, padding_mask, initial_state=before.state, training=False)
        outputs = tf.cast(encoded.sequence, tf.float32)  # (B, T, U)
        real = padding_mask[..., None]
        total = before.total + tf.reduce_sum(tf.where(real, outputs, 0.0), axis=1)
        highest = tf.maximum(before.highest, tf.reduce_max(tf.where(real, outputs, _LOWEST), axis=1))
        return Running(encoded.state, total, highest)

    def _log_probabilities(self, running: Running, num_tokens: Any) -> Any:
        """float32 (B, C) as if the texts ended here; float32 (B,) tokens were read, eos not among them."""
        ids = tf.fill((tf.shape(num_tokens)[0], 1), EOS_ID)
        ended = self._read(ids, tf.ones_like(ids, tf.bool), running)
        spec = self._model.spec
        last = tf.cast(ended.state[(spec.num_layers - 1) * states_per_layer(spec.cell)], tf.float32)
        mean = ended.total / (num_tokens + 1.0)[:, None]
        parts = {"last": [last], "mean": [mean], "max": [ended.highest], "all": [last, mean, ended.highest]}
        pooled = tf.concat(parts[spec.pooling], axis=-1)  # (B, P)
        return tf.nn.log_softmax(self._model.head(pooled))
