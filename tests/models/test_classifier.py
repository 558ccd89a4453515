import numpy as np
import pytest
import tensorflow as tf

from elman.data.tokenizer import EOS_ID
from elman.models.scoring import classifier_nll
from elman.models.spec import ModelSpec
from elman.models.store import build_model

CELLS = ("simple_rnn", "lstm", "gru")
POOLINGS = ("last", "mean", "max", "all")


def spec(**changes) -> ModelSpec:
    base = {"task": "classifier", "cell": "lstm", "vocab_size": 30, "num_classes": 4, "embedding_dim": 6, "units": 5}
    return ModelSpec(**base | {"pooling": "all", "seed": 3, "initializer": "uniform", "uniform_range": 0.5} | changes)


def ragged(lengths=(7, 1, 4), steps=7, seed=0):
    random = np.random.default_rng(seed)
    mask = np.arange(steps) < np.array(lengths)[:, None]
    return np.where(mask, random.integers(4, 30, mask.shape), 0).astype(np.int32), mask


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("pooling", POOLINGS)
def test_more_padding_and_what_stands_in_it_change_no_logit(cell, bidirectional, pooling):
    model = build_model(spec(cell=cell, bidirectional=bidirectional, pooling=pooling))
    ids, mask = ragged()
    longer_mask = np.pad(mask, ((0, 0), (0, 9)))
    garbage = np.random.default_rng(1).integers(4, 30, longer_mask.shape)
    longer = np.where(longer_mask, np.pad(ids, ((0, 0), (0, 9))), garbage).astype(np.int32)
    np.testing.assert_allclose(
        model(longer, padding_mask=longer_mask), model(ids, padding_mask=mask), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_batch_gives_what_its_rows_give_alone(cell, bidirectional):
    model = build_model(spec(cell=cell, bidirectional=bidirectional, num_layers=2))
    ids, mask = ragged()
    together = np.asarray(model(ids, padding_mask=mask))
    for row, length in enumerate(mask.sum(axis=1)):
        alone = model(ids[row : row + 1, :length], padding_mask=mask[row : row + 1, :length])
        np.testing.assert_allclose(alone[0], together[row], rtol=1e-5, atol=1e-6)


def test_last_reads_the_last_true_step_and_the_first_of_the_way_back():
    """Padding on the right must not be what a last-state classifier reads (Ludwig's default reads it)."""
    model = build_model(spec(bidirectional=True, pooling="last"))
    ids, mask = ragged(lengths=(3,), steps=6)
    encoded = model.encoder(ids, padding_mask=mask)
    np.testing.assert_allclose(encoded.last_state[0, :5], encoded.sequence[0, 2, :5], rtol=1e-6)
    np.testing.assert_allclose(encoded.last_state[0, 5:], encoded.sequence[0, 0, 5:], rtol=1e-6)


def test_a_seed_names_the_weights():
    same = [build_model(spec(seed=seed)).get_weights() for seed in (1, 1, 2)]
    assert all(np.array_equal(a, b) for a, b in zip(same[0], same[1], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(same[0], same[2], strict=True))


def test_two_layers_and_two_directions_start_with_different_weights():
    model = build_model(spec(embedding_dim=10, units=5, num_layers=2, bidirectional=True))
    kernels = [np.asarray(w) for w in model.encoder.weights if w.shape == (10, 20)]
    assert len(kernels) == 4
    assert len({kernel.tobytes() for kernel in kernels}) == 4


@pytest.mark.parametrize(
    ("cell", "width"),
    [("simple_rnn", 5 * (5 + 6) + 5), ("lstm", 4 * (5 * (5 + 6) + 5)), ("gru", 3 * (5 * (5 + 6) + 2 * 5))],
)
def test_the_number_of_parameters_is_that_of_the_formulas(cell, width):
    assert build_model(spec(cell=cell)).count_params() == 30 * 6 + width + 15 * 4 + 4


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_random_ids_in_the_padding_change_no_loss_and_no_gradient(cell, bidirectional):
    model = build_model(spec(cell=cell, bidirectional=bidirectional))
    ids, mask = ragged()
    dirty = np.where(mask, ids, np.random.default_rng(1).integers(1, 30, mask.shape)).astype(np.int32)

    def loss_and_gradients(token_ids):
        with tf.GradientTape() as tape:
            nll, _ = classifier_nll(model, token_ids, mask, np.array([0, 1, 3]), training=True)
            loss = tf.reduce_sum(nll)
        gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
        return [np.asarray(tf.convert_to_tensor(part)) for part in (loss, *gradients)]

    for clean, other in zip(loss_and_gradients(ids), loss_and_gradients(dirty), strict=True):
        np.testing.assert_allclose(other, clean, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_an_empty_text_has_one_defined_answer_in_any_batch(cell):
    # tensorflow/tensorflow#43103. An empty text is its end mark, so that no row has a length of 0.
    model = build_model(spec(cell=cell, bidirectional=True))
    good_film = [12, 17, EOS_ID]
    rows = [good_film, [EOS_ID], [EOS_ID], [EOS_ID]]  # "good film", "", "   ", "\u200b"
    mask = np.arange(3) < np.array([[len(row)] for row in rows])
    ids = np.array([row + [0] * (3 - len(row)) for row in rows], np.int32)
    together = np.asarray(model(ids, padding_mask=mask))
    assert np.isfinite(together).all()
    for row, text in enumerate(rows):
        alone = model(np.array([text], np.int32), padding_mask=np.ones((1, len(text)), bool))
        np.testing.assert_allclose(alone[0], together[row], rtol=1e-5, atol=1e-6)
