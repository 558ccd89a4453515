"""What is exported: a trained model's plain copy, with all that text passes through on its way to it."""

from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from elman.models.classifier import Classifier
from elman.models.language_model import LanguageModel
from elman.models.serving import Serving
from elman.models.store import Model, build_model


class Source(NamedTuple):
    """A model that was found and loaded.

    Attributes:
        model: In float32, on Keras' generic loop.
        serving: Labels, cleaning and lengths.
        tokenizer: The tokenizer's folder.
    """

    model: Model
    serving: Serving
    tokenizer: Path

    @property
    def is_classifier(self) -> bool:
        """Whether it is a classifier, or else a language model."""
        return isinstance(self.model, Classifier)


class Written(NamedTuple):
    """What a format's writer says of its file.

    Attributes:
        inputs: By name, the element type and the axes; a letter is an axis of any size.
        outputs: The same.
        difference: Largest absolute difference of the file's outputs from Keras' on sample rows; None where no runtime
            was there to ask.
    """

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    difference: float | None


TOLERANCE = 1e-4  # of probabilities and log-probabilities


def plain_copy(model: Model) -> Model:
    """The same weights in a model whose graph TensorFlow's own operations make up.

    The CPU kernels are compiled on the machine that runs them, so they cannot stand in a file; and a model that
    computes in bfloat16 is exported in float32.
    """
    before = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy("float32")
    try:
        copy = build_model(model.spec)
    finally:
        keras.mixed_precision.set_global_policy(before)
    copy.set_weights(model.get_weights())
    for layer in copy.encoder.recurrent_layers:
        both = isinstance(layer, keras.layers.Bidirectional)
        for direction in (layer.forward_layer, layer.backward_layer) if both else (layer,):
            direction.choose_loop("generic")
    return copy


def sample_rows(model: Model, *, lengths: tuple[int, ...] = (7, 1, 4)) -> tuple[Any, Any]:
    """Rows to compare a file's outputs on: int32 (B, T) ids padded with 0, and the mask bool (B, T)."""
    mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
    ids = np.random.default_rng(7).integers(1, model.spec.vocab_size, mask.shape)
    return np.where(mask, ids, 0).astype(np.int32), mask


def probabilities(model: Classifier, token_ids: Any, padding_mask: Any) -> Any:
    """float32 (B, C) by Keras."""
    logits = model(token_ids, padding_mask=padding_mask, training=False)
    return keras.ops.convert_to_numpy(keras.ops.softmax(logits))


def log_probabilities(model: LanguageModel, token_ids: Any, state: Any) -> tuple[Any, tuple[Any, ...]]:
    """float32 (B, T, V) of what follows each token, and the new state, by Keras."""
    logits, state = model(token_ids, padding_mask=np.ones_like(token_ids, bool), initial_state=state, training=False)
    return keras.ops.convert_to_numpy(keras.ops.log_softmax(logits)), state
