"""Texts as vectors: what a trained model keeps of each."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from elman.data.document_batches import evaluation_batches
from elman.data.sequences import EncodedDocuments, cut_documents
from elman.data.stream_windows import evaluation_windows
from elman.models.classifier import Classifier
from elman.models.compiled import compiled
from elman.models.encoder import State, states_per_layer
from elman.models.language_model import LanguageModel
from elman.models.scoring import FLAGS, IDS, MASK, ROWS, next_rows, state_spec

Embedder = Callable[[EncodedDocuments], npt.NDArray[np.float32]]


def classifier_embedder(model: Classifier, *, max_length: int, batch_size: int) -> Embedder:
    """A function from N documents to float32 (N, P): what the classes are told from, the pooled outputs of the encoder.

    Args:
        model: The classifier.
        max_length: Tokens of a document that are read, eos included.
        batch_size: Documents at a time; the result does not depend on it.
    """
    represent = compiled([IDS, MASK])(lambda *batch: tf.cast(model.represent(*batch), tf.float32))
    width = model.encoder.output_dim * (3 if model.spec.pooling == "all" else 1)  # P

    def embed(documents: EncodedDocuments) -> npt.NDArray[np.float32]:
        found = np.zeros((len(documents), width), np.float32)
        for batch in evaluation_batches(cut_documents(documents, max_length), batch_size=batch_size):
            found[batch.ids] = represent(batch.token_ids, batch.padding_mask).numpy()
        return found

    return embed


def language_model_embedder(model: LanguageModel, *, window_length: int, rows: int) -> Embedder:
    """A function from N documents to float32 (N, U): the top layer's state after the last token, from a zero state.

    It is what the language model predicts the end of the document from: it has read bos and all tokens, but no eos.

    Args:
        model: The language model.
        window_length: Steps at a time; the result does not depend on it.
        rows: Documents at a time; the result does not depend on it.
    """
    top = (model.spec.num_layers - 1) * states_per_layer(model.spec.cell)

    @compiled([IDS, MASK, ROWS, FLAGS, state_spec(model)])
    def read(token_ids: Any, padding_mask: Any, keep: Any, reset: Any, state: State) -> tuple[Any, State]:
        state = model.encode(token_ids, padding_mask, next_rows(state, keep, reset))[1]
        return tf.cast(state[top], tf.float32), state

    def embed(documents: EncodedDocuments) -> npt.NDArray[np.float32]:
        found = np.zeros((len(documents), model.spec.units), np.float32)
        state = model.encoder.zero_state(1)
        for window in evaluation_windows(documents, mode="document", rows=rows, window_length=window_length):
            last, state = read(window.token_ids, window.padding_mask, window.keep, window.reset, state)
            # A row that goes on overwrites what it left here: the last window of a document is the one that counts.
            found[np.searchsorted(documents.offsets, window.places[:, 0], side="right") - 1] = last.numpy()
        return found

    return embed
