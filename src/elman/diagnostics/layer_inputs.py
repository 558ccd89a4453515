"""What each recurrent layer of a model reads while the model reads a text."""

from typing import NamedTuple

import keras
import numpy as np
import numpy.typing as npt

from elman.data.tokenizer import Tokenizer
from elman.errors import DataError
from elman.models.store import Model


class LayerInputs(NamedTuple):
    """A layer with its inputs.

    Attributes:
        layer: A recurrent layer that returns outputs and states; of a bidirectional pair the forward one.
        inputs: float32 (T, D).
    """

    layer: keras.layers.Layer
    inputs: npt.NDArray[np.float32]


def encode_text(tokenizer: Tokenizer, text: str, *, model: Model) -> npt.NDArray[np.int32]:
    """The ids of a text, int32 (T,); for a language model with bos in front, as in training.

    Raises:
        DataError: The text is empty, or the tokenizer is not the model's.
    """
    if tokenizer.vocab_size != model.spec.vocab_size:
        raise DataError(
            f"the tokenizer has {tokenizer.vocab_size} pieces and the model {model.spec.vocab_size}: name the "
            "tokenizer that the model was trained with (--tokenizer)"
        )
    ids = tokenizer.encode_batch([text])[0]
    if len(ids) == 0:
        raise DataError("the text is empty: there is nothing to look at")
    if model.spec.task == "language_model":
        ids = np.concatenate([[tokenizer.bos_id], ids])
    return ids.astype(np.int32)


def layer_inputs(model: Model, token_ids: npt.NDArray[np.int32]) -> list[LayerInputs]:
    """Each recurrent layer with what it reads, dropout off.

    Args:
        model: A classifier or language model.
        token_ids: int32 (T,).
    """
    encoder = model.encoder
    x = encoder.embedding(token_ids[None])  # (1, T, D)
    found = []
    for layer in encoder.recurrent_layers:
        forward = layer.forward_layer if isinstance(layer, keras.layers.Bidirectional) else layer
        found.append(LayerInputs(forward, np.asarray(x)[0]))
        x = layer(x, training=False)[0]  # (1, T, U)
    return found
