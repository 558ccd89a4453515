"""The language model of the study `agreement`, and the question that it is asked."""

from typing import Any

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from elman.diagnostics.studies.agreement_sentences import PLURAL_VERBS, SINGULAR_VERBS, WORDS, Sentences
from elman.diagnostics.studies.cells import count_parameters, make_layer
from elman.seeding import derive_seed


class AgreementModel:
    """Embedding, one recurrent layer, and a softmax over the words of the grammar.

    Args:
        cell: A name of `VARIANTS`.
        units: U.
        embedding_dim: D.
        seed: Names the initial weights.
    """

    def __init__(self, cell: str, *, units: int, embedding_dim: int, seed: int) -> None:
        self.embedding = keras.layers.Embedding(
            len(WORDS),
            embedding_dim,
            embeddings_initializer=keras.initializers.RandomUniform(-0.5, 0.5, seed=derive_seed(seed, "embedding")),
        )
        self.layer = make_layer(cell, units=units, seed=seed)
        self.head = keras.layers.Dense(
            len(WORDS), kernel_initializer=keras.initializers.GlorotUniform(seed=derive_seed(seed, "head"))
        )
        self.embedding.build()
        self.layer.build((None, None, embedding_dim))
        self.head.build((None, None, units))
        self.parameters = self.embedding.count_params() + count_parameters(cell, self.layer) + self.head.count_params()

    @property
    def variables(self) -> list[keras.Variable]:
        """All that is trained."""
        return [part for layer in (self.embedding, self.layer, self.head) for part in layer.trainable_variables]

    def loss(self, token_ids: Any) -> Any:
        """The mean negative log-likelihood of the next word, nats; token_ids int32 (B, T)."""
        outputs, *_ = self.layer(self.embedding(token_ids[:, :-1]), training=True)  # (B, T - 1, U)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(token_ids[:, 1:], self.head(outputs))  # (B, T - 1)
        return tf.reduce_mean(losses)

    def accuracy(self, sentences: Sentences) -> float:
        """The share of sentences before whose verb the right number is likelier."""
        _, h, *_ = self.layer(self.embedding(tf.constant(sentences.token_ids[:, :-1])), training=False)  # (B, U)
        return share_right(np.asarray(tf.nn.softmax(self.head(h))), sentences.plural[:, 0])


def share_right(probabilities: npt.NDArray[Any], plural: npt.NDArray[np.int64]) -> float:
    """The share of sentences where verbs of the subject's number have more probability than the others.

    Args:
        probabilities: float (B, V). Of the next word.
        plural: int64 (B,). 1 where the subject is plural.
    """
    lead = probabilities[:, PLURAL_VERBS].sum(axis=1) - probabilities[:, SINGULAR_VERBS].sum(axis=1)  # (B,)
    return float(np.where(plural == 1, lead > 0, lead < 0).mean())
