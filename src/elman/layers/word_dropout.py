"""Dropout of whole word types."""

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="elman")
class WordDropout(keras.layers.Layer):
    """Replaces all occurrences of a random share of word types by the unknown token, anew for each document.

    A model that saw "wheat" in each wheat document learns to look for nothing else. Dropping the type at all its places
    at once (Gal and Ghahramani 2016) leaves no second copy to look at, and gives the unknown token a trained vector.

    **Masking**: ignores; padding (id 0) and the other ids below `first_id` are never replaced.

    Args:
        rate: Share of types that a document loses, 0 <= rate < 1.
        vocab_size: V.
        unk_id: What stands in their place.
        first_id: Ids below this one are special and stay.
        seed: For the random generator, whose state is saved with the model.

    Example:
        >>> import numpy as np
        >>> layer = WordDropout(rate=0.5, vocab_size=10, seed=1)
        >>> layer(np.array([[4, 5, 4]])).numpy().tolist()  # not training
        [[4, 5, 4]]

    References:
        gal2016dropout
    """

    def __init__(
        self,
        *,
        rate: float,
        vocab_size: int,
        unk_id: int = 1,
        first_id: int = 4,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"WordDropout rate must be in [0, 1); came {rate}")
        self.rate = rate
        self.vocab_size = vocab_size
        self.unk_id = unk_id
        self.first_id = first_id
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def build(self, *_: Any, **__: Any) -> None:
        """There are no weights; the generator's state exists since construction."""
        self.built = True

    def call(self, token_ids: Any, training: bool = False) -> Any:
        """Replaces types in training, returns its input otherwise.

        Args:
            token_ids: int32 (B, T).
            training: Whether to drop.

        Returns:
            int32 (B, T).
        """
        if not training or self.rate == 0.0:
            return token_ids
        shape = (ops.shape(token_ids)[0], self.vocab_size)
        draws = keras.random.uniform(shape, seed=self.seed_generator)  # (B, V): one draw a document and type
        dropped = ops.take_along_axis(draws, token_ids, axis=1) < self.rate  # (B, T)
        replaced = ops.logical_and(dropped, token_ids >= self.first_id)
        return ops.where(replaced, ops.cast(self.unk_id, token_ids.dtype), token_ids)

    def compute_output_shape(self, token_ids_shape: Any) -> Any:
        """The shape of the input."""
        return token_ids_shape

    def get_config(self) -> dict[str, Any]:
        """All constructor arguments."""
        return {
            **super().get_config(),
            "rate": self.rate,
            "vocab_size": self.vocab_size,
            "unk_id": self.unk_id,
            "first_id": self.first_id,
            "seed": self.seed,
        }
