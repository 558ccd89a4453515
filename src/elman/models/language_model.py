"""The language model: encoder and a full softmax over the vocabulary."""

from typing import Any

import keras
import tensorflow as tf
from keras import ops

from elman.layers.softmax_nll import softmax_nll, softmax_nll_sum
from elman.models.encoder import Encoder, State, make_dropout, make_initializer
from elman.models.spec import ModelSpec
from elman.seeding import derive_seed


@keras.saving.register_keras_serializable(package="elman")
class LanguageModel(keras.Model):
    """The next token's logits at each step, with the state carried from call to call by the caller.

    `encode` and `project` are the two halves of `call`. Training and scoring use `encode` with `nll_sum` or `nll`
    instead, so that the product with the vocabulary, which costs more than all else, is only made at real positions.

    Args:
        spec: The architecture. With `spec.tie_embeddings` the output weights are the embedding (Press and Wolf 2017).

    Weights:
        encoder, `output_kernel` (V, U) unless tied, `output_bias` (V,).

    References:
        press2017tying
    """

    def __init__(self, spec: ModelSpec, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if spec.tie_embeddings and spec.embedding_dim != spec.units:
            raise ValueError(
                f"tied embeddings need embedding_dim equal to units; came {spec.embedding_dim}, {spec.units}"
            )
        if spec.bidirectional:
            raise ValueError("a language model cannot be bidirectional: it would see the token that it predicts")
        self.spec = spec
        self.encoder = Encoder(spec, name="encoder")
        self.output_dropout = make_dropout(spec, spec.dropout, derive_seed(spec.seed, "model", "output_dropout"))

    def build(self, *_: Any, **__: Any) -> None:
        """Creates all weights."""
        self.encoder.build()
        if not self.spec.tie_embeddings:
            self.output_kernel = self.add_weight(
                shape=(self.spec.vocab_size, self.spec.units),
                initializer=make_initializer(
                    self.spec, self.spec.initializer, derive_seed(self.spec.seed, "model", "output")
                ),
                name="output_kernel",
            )
        self.output_bias = self.add_weight(shape=(self.spec.vocab_size,), initializer="zeros", name="output_bias")
        self.built = True

    def encode(
        self, token_ids: Any, padding_mask: Any, initial_state: State | None = None, training: bool = False
    ) -> tuple[Any, State]:
        """Hidden outputs before the vocabulary.

        Args:
            token_ids: int32 (B, T). The inputs: bos, then all tokens of a document.
            padding_mask: bool (B, T).
            initial_state: What the previous window of the same rows returned, or None for zeros.
            training: Whether dropout works.

        Returns:
            float (B, T, U), and the state after each row's last true step.
        """
        encoded = self.encoder(token_ids, padding_mask=padding_mask, initial_state=initial_state, training=training)
        return self.output_dropout(encoded.sequence, training=training), encoded.state

    @property
    def output_matrix(self) -> Any:
        """float32 (V, U): the embedding when tied, else the output weights."""
        if self.spec.tie_embeddings:
            return tf.convert_to_tensor(self.encoder.embedding.embeddings)
        return tf.convert_to_tensor(self.output_kernel)

    def project(self, hidden: Any) -> Any:
        """Logits over the vocabulary.

        Args:
            hidden: float (N, U).

        Returns:
            float32 (N, V). Unnormalised log-probabilities.
        """
        logits = tf.matmul(hidden, tf.cast(self.output_matrix, hidden.dtype), transpose_b=True)
        return tf.cast(logits, tf.float32) + tf.cast(self.output_bias, tf.float32)

    def nll(self, hidden: Any, targets: Any) -> Any:
        """float32 (N,): negative log-likelihood in nats of each target, int32 (N,). For scoring, without a gradient."""
        return softmax_nll(hidden, self.output_matrix, tf.convert_to_tensor(self.output_bias), targets)

    def nll_sum(self, hidden: Any, targets: Any) -> Any:
        """float32 (): the sum of `nll`, with a gradient. For training."""
        return softmax_nll_sum(hidden, self.output_matrix, tf.convert_to_tensor(self.output_bias), targets)

    def call(
        self, token_ids: Any, padding_mask: Any, initial_state: State | None = None, training: bool = False
    ) -> tuple[Any, State]:
        """Logits at every step, float32 (B, T, V), and the new state; see `encode`."""
        hidden, state = self.encode(token_ids, padding_mask, initial_state, training)
        shape = ops.shape(hidden)
        logits = self.project(ops.reshape(hidden, (-1, self.spec.units)))
        return ops.reshape(logits, (shape[0], shape[1], self.spec.vocab_size)), state

    def get_config(self) -> dict[str, Any]:
        """The spec as plain values."""
        return {"name": self.name, "spec": self.spec.to_json()}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> "LanguageModel":
        """The inverse of `get_config`."""
        return cls(ModelSpec.from_json(config["spec"], source="LanguageModel.from_config"), name=config["name"])
