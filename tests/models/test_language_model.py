import numpy as np
import pytest

from elman.models.spec import ModelSpec
from elman.models.store import build_model

CELLS = ("simple_rnn", "lstm", "gru")


def spec(**changes) -> ModelSpec:
    base = {"task": "language_model", "cell": "gru", "vocab_size": 30, "embedding_dim": 6, "units": 5, "seed": 3}
    return ModelSpec(**base | {"initializer": "uniform", "uniform_range": 0.5} | changes)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("num_layers", [1, 2])
def test_a_carried_state_makes_pieces_equal_to_the_whole(cell, num_layers):
    model = build_model(spec(cell=cell, num_layers=num_layers))
    ids = np.random.default_rng(0).integers(4, 30, (2, 11)).astype(np.int32)
    mask = np.ones(ids.shape, bool)
    whole, _ = model(ids, padding_mask=mask)
    pieces, state = [], model.encoder.zero_state(2)
    for part in (slice(0, 4), slice(4, 5), slice(5, 11)):
        logits, state = model(ids[:, part], padding_mask=mask[:, part], initial_state=state)
        pieces.append(np.asarray(logits))
    np.testing.assert_allclose(np.concatenate(pieces, axis=1), whole, rtol=1e-5, atol=1e-6)


def test_tied_output_weights_are_the_embedding():
    tied = build_model(spec(units=6, tie_embeddings=True))
    untied = build_model(spec(units=6))
    assert untied.count_params() - tied.count_params() == 6 * 30
    hidden = np.random.default_rng(0).normal(size=(3, 6)).astype("float32")
    expected = hidden @ np.asarray(tied.encoder.embedding.embeddings).T + np.asarray(tied.output_bias)
    np.testing.assert_allclose(tied.project(hidden), expected, rtol=1e-5, atol=1e-6)


def test_recurrent_layers_can_start_from_a_range_of_their_own():
    model = build_model(
        spec(
            cell="lstm",
            units=16,
            uniform_range=0.1,
            kernel_initializer="uniform_by_units",
            recurrent_initializer="uniform_by_units",
        )
    )
    layer = model.encoder.recurrent_layers[0]
    for weight in (layer.cell.kernel, layer.cell.recurrent_kernel):
        assert 0.24 < np.abs(np.asarray(weight)).max() <= 0.25  # 1 / sqrt(16)
    for weight in (model.encoder.embedding.embeddings, model.output_kernel):
        assert 0.09 < np.abs(np.asarray(weight)).max() <= 0.1


def test_what_comes_later_does_not_change_an_earlier_step():
    model = build_model(spec())
    ids = np.random.default_rng(0).integers(4, 30, (1, 8)).astype(np.int32)
    changed = ids.copy()
    changed[0, 5] = (changed[0, 5] + 7) % 30
    mask = np.ones(ids.shape, bool)
    first, second = (np.asarray(model(x, padding_mask=mask)[0]) for x in (ids, changed))
    np.testing.assert_array_equal(first[:, :5], second[:, :5])
    assert not np.allclose(first[:, 5:], second[:, 5:])


@pytest.mark.parametrize("wrong", [{"bidirectional": True}, {"tie_embeddings": True}])
def test_what_a_language_model_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=r"bidirectional|tied"):
        build_model(spec(**wrong))
