"""The classifier: encoder, pooling, one dense layer."""

from typing import Any

import keras

from elman.layers.sequence_pooling import SequencePooling
from elman.models.encoder import Encoded, Encoder, make_initializer
from elman.models.spec import ModelSpec
from elman.seeding import derive_seed


@keras.saving.register_keras_serializable(package="elman")
class Classifier(keras.Model):
    """Documents to class logits.

    Args:
        spec: The architecture; `spec.num_classes` is C.

    Weights:
        encoder, then `head/kernel` (P, C) and `head/bias` (C,), with P the pooled width.
    """

    def __init__(self, spec: ModelSpec, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.spec = spec
        self.encoder = Encoder(spec, name="encoder")
        self.pooling = SequencePooling(spec.pooling, name="pooling")
        self.head_dropout = keras.layers.Dropout(spec.dropout, seed=derive_seed(spec.seed, "model", "head_dropout"))
        self.head = keras.layers.Dense(
            spec.num_classes,
            kernel_initializer=make_initializer(spec, spec.initializer, derive_seed(spec.seed, "model", "head")),
            dtype="float32",  # logits stay exact under mixed precision
            name="head",
        )

    def build(self, *_: Any, **__: Any) -> None:
        """Creates all weights."""
        self.encoder.build()
        self.head.build((None, self.encoder.output_dim * (3 if self.spec.pooling == "all" else 1)))
        self.built = True

    def call(self, token_ids: Any, padding_mask: Any, training: bool = False) -> Any:
        """Scores each class.

        Args:
            token_ids: int32 (B, T).
            padding_mask: bool (B, T). At least one real token in each row.
            training: Whether dropout works.

        Returns:
            float32 (B, C). Unnormalised log-probabilities.
        """
        return self._score(self.represent(token_ids, padding_mask, training), training)

    def score_embedded(self, embedded: Any, padding_mask: Any, training: bool = False) -> Any:
        """As `call`, from the vectors of the tokens, float (B, T, D), as `encoder.embed` gives them."""
        encoded = self.encoder.encode(embedded, padding_mask, training=training)
        return self._score(self._pool(encoded, padding_mask), training)

    def represent(self, token_ids: Any, padding_mask: Any, training: bool = False) -> Any:
        """What the classes are told from: the pooled outputs of the encoder, float (B, P). Arguments as in `call`."""
        encoded = self.encoder(token_ids, padding_mask=padding_mask, training=training)
        return self._pool(encoded, padding_mask)

    def _pool(self, encoded: Encoded, padding_mask: Any) -> Any:
        return self.pooling(encoded.sequence, last_state=encoded.last_state, padding_mask=padding_mask)

    def _score(self, pooled: Any, training: bool) -> Any:
        return self.head(self.head_dropout(pooled, training=training))

    def get_config(self) -> dict[str, Any]:
        """The spec as plain values."""
        return {"name": self.name, "spec": self.spec.to_json()}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> "Classifier":
        """The inverse of `get_config`."""
        return cls(ModelSpec.from_json(config["spec"], source="Classifier.from_config"), name=config["name"])
