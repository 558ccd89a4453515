"""Adversarial training of classifiers (Miyato, Dai and Goodfellow 2017): each document also as hard as can be.

A document's word vectors are moved, all of them together, by a small step in the direction in which its loss rises
fastest, and the model has to tell its class all the same. Miyato et al. scale the vectors of the vocabulary to mean 0
and variance 1, so that a model cannot escape by long vectors; here the step's length is a share of the document's own
length, which leaves the model as it is.
"""

from typing import Any

import tensorflow as tf

from elman.models.classifier import Classifier


def adversarial_nll(model: Classifier, token_ids: Any, padding_mask: Any, labels: Any, *, epsilon: float) -> Any:
    """The mean of each document's negative log-likelihood as it is and shifted against the model.

    Both readings drop the same words; features are dropped anew. The shift counts as given: no gradient flows through
    how it was found.

    Args:
        model: Built.
        token_ids: int32 (B, T).
        padding_mask: bool (B, T). At least one real token in each row.
        labels: int32 (B,).
        epsilon: Length of a document's shift over the length of its vectors, both over all real tokens; above 0.

    Returns:
        float32 (B,), in nats, differentiable by the model's weights.

    References:
        miyato2017adversarial
    """
    with tf.GradientTape() as tape:
        embedded = model.encoder.embed(token_ids, training=True)  # (B, T, D)
        tape.watch(embedded)
        plain = _nll(model, embedded, padding_mask, labels)
    upward = tape.gradient(plain, embedded)  # of the sum, and so each document's own
    shifted = embedded + worst_shift(embedded, upward, padding_mask, epsilon=epsilon)
    return (plain + _nll(model, shifted, padding_mask, labels)) / 2.0


def worst_shift(embedded: Any, gradient: Any, padding_mask: Any, *, epsilon: float) -> Any:
    """The step epsilon |e| g / |g| of each document: e are its vectors, g is the gradient of its loss by them.

    Args:
        embedded: float (B, T, D).
        gradient: float (B, T, D).
        padding_mask: bool (B, T). Padding is neither counted nor moved.
        epsilon: The share.

    Returns:
        float (B, T, D), of the type of `embedded` and without a gradient; 0 where the gradient is 0.

    Example:
        >>> vectors, gradient = tf.constant([[[3.0], [4.0], [9.0]]]), tf.constant([[[0.0], [2.0], [5.0]]])
        >>> worst_shift(vectors, gradient, tf.constant([[True, True, False]]), epsilon=0.1)[0, :, 0].numpy().tolist()
        [0.0, 0.5, 0.0]
    """
    real = tf.cast(padding_mask, tf.float32)[:, :, None]  # (B, T, 1)
    vectors, upward = (real * tf.cast(part, tf.float32) for part in (embedded, gradient))
    lengths = [tf.norm(part, axis=(1, 2), keepdims=True) for part in (vectors, upward)]  # (B, 1, 1) each
    shift = epsilon * lengths[0] * tf.math.divide_no_nan(upward, lengths[1])
    return tf.cast(tf.stop_gradient(shift), embedded.dtype)


def _nll(model: Classifier, embedded: Any, padding_mask: Any, labels: Any) -> Any:
    logits = model.score_embedded(embedded, padding_mask, training=True)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
