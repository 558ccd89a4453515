"""Models as TensorFlow modules that take strings: cleaning, tokenizer and model in one graph."""

from typing import Any

import tensorflow as tf

from elman.data.tokenizer import BOS_ID, EOS_ID
from elman.exporting.graph_text import GraphTokenizer, clean_texts
from elman.exporting.source import Source

_TEXTS = [tf.TensorSpec((None,), tf.string, name="texts")]


class TextModule(tf.Module):
    """What the two have in common.

    Args:
        source: The model; its variables become the module's.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(name=source.serving.task)
        self._tokenizer = GraphTokenizer(source.tokenizer)
        self._cleaning = source.serving.cleaning
        self._variables = [variable.value for variable in source.model.variables]

    def pieces(self, texts: Any) -> Any:
        """Ragged int32 (B, T): ids of raw texts, string (B,), without eos."""
        return self._tokenizer(clean_texts(texts, self._cleaning))


def classifier_functions(source: Source) -> tuple[TextModule, dict[str, Any]]:
    """A module with its signatures.

    `classify`: texts string (B,) to label string (B,), probabilities float32 (B, C) and num_tokens int32 (B,), those of
    the text, eos included, before it is cut. `tokenize`: texts to token_ids int32 (B, T), each row's eos last, padded
    with 0, as the model reads them.
    """
    module, model, serving = TextModule(source), source.model, source.serving
    assert serving.labels is not None
    assert serving.max_length is not None
    longest = serving.max_length - 1  # and eos
    labels = tf.constant(serving.labels)

    def rows(pieces: Any) -> Any:
        return _ended(pieces[:, :longest], EOS_ID)

    @tf.function(input_signature=_TEXTS)
    def classify(texts: Any) -> dict[str, Any]:
        pieces = module.pieces(texts)
        token_ids = rows(pieces)
        mask = tf.sequence_mask(token_ids.row_lengths())  # (B, T)
        probabilities = tf.nn.softmax(model(token_ids.to_tensor(), padding_mask=mask, training=False))
        return {
            "label": tf.gather(labels, tf.argmax(probabilities, axis=-1)),
            "probabilities": probabilities,
            "num_tokens": tf.cast(pieces.row_lengths() + 1, tf.int32),
        }

    @tf.function(input_signature=_TEXTS)
    def tokenize(texts: Any) -> dict[str, Any]:
        return {"token_ids": rows(module.pieces(texts)).to_tensor()}

    return module, {"classify": classify, "tokenize": tokenize}


def language_model_functions(source: Source) -> tuple[TextModule, dict[str, Any]]:
    """A module with its signatures; each text starts from a zero state.

    `score`: texts string (B,) to nll_nats float32 (B,), num_tokens int32 (B,), eos included, and by token, padded with
    0: token_ids int32 (B, T) and token_nll_nats float32 (B, T). `tokenize`: texts to token_ids.
    """
    module, model = TextModule(source), source.model

    @tf.function(input_signature=_TEXTS)
    def score(texts: Any) -> dict[str, Any]:
        pieces = module.pieces(texts)
        targets = _ended(pieces, EOS_ID)
        begin = tf.fill([pieces.nrows(), 1], BOS_ID)
        inputs = tf.concat([begin, pieces], axis=1).to_tensor()  # (B, T)
        mask = tf.sequence_mask(targets.row_lengths())
        logits, _ = model(inputs, padding_mask=mask, training=False)  # (B, T, V)
        padded = targets.to_tensor()
        nats = tf.nn.sparse_softmax_cross_entropy_with_logits(padded, logits)
        nats = tf.where(mask, nats, tf.zeros_like(nats))
        return {
            "nll_nats": tf.reduce_sum(nats, axis=1),
            "num_tokens": tf.cast(targets.row_lengths(), tf.int32),
            "token_ids": padded,
            "token_nll_nats": nats,
        }

    @tf.function(input_signature=_TEXTS)
    def tokenize(texts: Any) -> dict[str, Any]:
        return {"token_ids": _ended(module.pieces(texts), EOS_ID).to_tensor()}

    return module, {"score": score, "tokenize": tokenize}


def _ended(pieces: Any, end: int) -> Any:
    """Ragged (B, T): `end` after each row."""
    return tf.concat([pieces, tf.fill([pieces.nrows(), 1], end)], axis=1)
