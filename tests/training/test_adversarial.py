"""Adversarial training: the shift is the worst there is, and nothing else about the loss changes."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from pydantic import ValidationError

from elman.config import ClassifierConfig
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.training.adversarial import adversarial_nll, worst_shift
from elman.training.loop import fit
from elman.training.objectives import ClassifierObjective, classifier_loss
from tests.helpers.documents import random_documents

LENGTHS = (9, 5, 1)
CELLS = ["simple_rnn", "lstm", "gru"]


def model(cell="gru", **changes):
    """Weights as drawn, times 20 where they are of the embedding: shifts of another size than rounding."""
    spec = ModelSpec(
        task="classifier", cell=cell, vocab_size=30, num_classes=3, embedding_dim=6, units=5, pooling="all", seed=1,
        **changes,
    )  # fmt: skip
    built = build_model(spec)
    built.encoder.embedding.embeddings.assign(20.0 * built.encoder.embedding.embeddings)
    return built


def batch(*, steps=9):
    """Three documents of different lengths, their mask and labels."""
    random = np.random.default_rng(3)
    token_ids = np.zeros((len(LENGTHS), steps), np.int32)
    for row, length in enumerate(LENGTHS):
        token_ids[row, :length] = random.integers(4, 30, length)
    return token_ids, np.arange(steps) < np.array(LENGTHS)[:, None], np.array([0, 2, 1], np.int32)


def nats(built, embedded, mask, labels):
    logits = built.score_embedded(embedded, mask)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def gradient_and_shift(built, token_ids, mask, labels, *, epsilon):
    with tf.GradientTape() as tape:
        embedded = built.encoder.embed(token_ids)
        tape.watch(embedded)
        loss = nats(built, embedded, mask, labels)
    gradient = tape.gradient(loss, embedded)
    return embedded, loss, gradient, worst_shift(embedded, gradient, mask, epsilon=epsilon)


@pytest.mark.parametrize("cell", CELLS)
def test_no_other_shift_of_its_length_raises_the_loss_of_a_document_as_much(cell):
    built, (token_ids, mask, labels) = model(cell, bidirectional=True), batch()
    embedded, loss, _, shift = gradient_and_shift(built, token_ids, mask, labels, epsilon=0.01)
    worst = nats(built, embedded + shift, mask, labels) - loss
    assert np.all(worst > 0.0)
    random = np.random.default_rng(0)
    for _ in range(100):
        other = random.normal(size=shift.shape).astype(np.float32) * mask[:, :, None]
        other *= np.linalg.norm(shift, axis=(1, 2), keepdims=True) / np.linalg.norm(other, axis=(1, 2), keepdims=True)
        assert np.all(nats(built, embedded + other, mask, labels) - loss < worst)


def test_the_shift_is_the_said_share_of_each_document_and_leaves_padding_alone():
    built, (token_ids, mask, labels) = model(), batch()
    embedded, _, gradient, shift = gradient_and_shift(built, token_ids, mask, labels, epsilon=0.25)
    for row, length in enumerate(LENGTHS):
        vectors, upward, moved = (np.asarray(part)[row, :length] for part in (embedded, gradient, shift))
        np.testing.assert_allclose(np.linalg.norm(moved), 0.25 * np.linalg.norm(vectors), rtol=1e-5)
        np.testing.assert_allclose(moved / np.linalg.norm(moved), upward / np.linalg.norm(upward), atol=1e-5)
        assert not np.asarray(shift)[row, length:].any()


def test_where_the_loss_has_no_slope_nothing_moves():
    still = worst_shift(tf.ones((1, 2, 3)), tf.zeros((1, 2, 3)), tf.constant([[True, True]]), epsilon=0.5)
    np.testing.assert_array_equal(still, np.zeros((1, 2, 3)))


@pytest.mark.parametrize("cell", CELLS)
def test_the_loss_is_the_mean_of_both_and_its_gradient_takes_the_shift_as_given(cell):
    built, (token_ids, mask, labels) = model(cell), batch()
    with tf.GradientTape() as tape:
        both = adversarial_nll(built, token_ids, mask, labels, epsilon=0.1)
    gradients = tape.gradient(both, built.trainable_variables)
    _, _, _, shift = gradient_and_shift(built, token_ids, mask, labels, epsilon=0.1)
    with tf.GradientTape() as tape:
        embedded = built.encoder.embed(token_ids)
        plain, shifted = nats(built, embedded, mask, labels), nats(built, embedded + shift.numpy(), mask, labels)
        mean = (plain + shifted) / 2.0
    np.testing.assert_allclose(both, mean, rtol=1e-5)
    for ours, theirs in zip(gradients, tape.gradient(mean, built.trainable_variables), strict=True):
        np.testing.assert_allclose(tf.convert_to_tensor(ours), tf.convert_to_tensor(theirs), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_neither_padding_nor_other_documents_change_a_documents_loss(cell):
    built = model(cell, bidirectional=True)
    token_ids, mask, labels = batch()
    together = adversarial_nll(built, token_ids, mask, labels, epsilon=0.1)
    wider, wider_mask, _ = batch(steps=14)
    np.testing.assert_allclose(adversarial_nll(built, wider, wider_mask, labels, epsilon=0.1), together, rtol=1e-5)
    for row, length in enumerate(LENGTHS):
        own = slice(row, row + 1)
        alone = adversarial_nll(built, token_ids[own, :length], mask[own, :length], labels[own], epsilon=0.1)
        np.testing.assert_allclose(alone[0], together[row], rtol=1e-5)


def test_without_it_the_loss_is_the_one_that_it_was():
    built, (token_ids, mask, labels) = model(), batch()
    expected = tf.reduce_sum(nats(built, built.encoder.embed(token_ids), mask, labels))
    np.testing.assert_array_equal(classifier_loss(built, token_ids, mask, labels, ())[0], expected)


TRAINING = {"learning_rate": 0.02, "epochs": 3, "batch_size": 8, "global_clipnorm": 1.0, "max_length": 10}
TRAININGS = [
    ("simple_rnn", "float32", {"num_layers": 2, "recurrent_dropout": 0.1}),
    ("gru", "float32", {"bidirectional": True, "dropout": 0.2, "word_dropout": 0.1, "embedding_dropout": 0.2}),
    ("lstm", "float32", {"dropout_kind": "step", "embedding_dropout": 0.1}),
    ("lstm", "mixed_bfloat16", {"bidirectional": True, "dropout": 0.1}),
]


@pytest.mark.parametrize(("cell", "precision", "changes"), TRAININGS)
def test_it_trains_with_every_option(cell, precision, changes):
    documents = random_documents(np.random.default_rng(0).integers(2, 12, 60), vocab_size=20, num_classes=3)
    documents.token_ids[documents.offsets[:-1]] = 4 + documents.labels
    shape = {"embedding_dim": 8, "units": 8, "pooling": "all", **changes}
    config = ClassifierConfig(**shape, **TRAINING, adversarial_epsilon=0.2)
    keras.mixed_precision.set_global_policy(precision)
    try:
        spec = ModelSpec(task="classifier", cell=cell, vocab_size=20, num_classes=3, seed=1, **shape)
        history = fit(ClassifierObjective(build_model(spec), config, documents, documents, seed=1), config).history
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert history[-1]["train/loss"] < history[0]["train/loss"]


@pytest.mark.parametrize("epsilon", [-0.1, float("nan"), float("inf")])
def test_a_share_that_is_no_share_is_refused(epsilon):
    with pytest.raises(ValidationError, match="adversarial_epsilon"):
        ClassifierConfig(
            embedding_dim=8, units=8, learning_rate=0.1, epochs=1, batch_size=1, adversarial_epsilon=epsilon
        )
