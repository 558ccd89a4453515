"""Both tasks through the real loop on small data."""

import keras
import numpy as np
import pytest

from elman.config import ClassifierConfig, LanguageModelConfig
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.training.gradients import make_optimizer, make_train_step
from elman.training.loop import fit
from elman.training.objectives import ClassifierObjective, LanguageModelObjective
from tests.helpers.documents import random_documents

SHARED = {"embedding_dim": 8, "units": 8, "learning_rate": 0.02, "epochs": 4, "batch_size": 8, "global_clipnorm": 1.0}


def classifier(cell="gru", **changes):
    """Documents whose label stands in their first token, among noise."""
    documents = random_documents(np.random.default_rng(0).integers(2, 12, 120), vocab_size=20, num_classes=3)
    documents.token_ids[documents.offsets[:-1]] = 4 + documents.labels
    config = ClassifierConfig(**SHARED, pooling="all", max_length=10, **changes)
    spec = ModelSpec(
        task="classifier", cell=cell, vocab_size=20, num_classes=3, embedding_dim=8, units=8, pooling="all", seed=1,
        bidirectional=config.bidirectional, dropout=config.dropout, word_dropout=config.word_dropout,
        recurrent_dropout=config.recurrent_dropout, dropout_kind=config.dropout_kind,
    )  # fmt: skip
    return ClassifierObjective(build_model(spec), config, documents, documents, seed=1), config


def language_model(cell="gru", **changes):
    """Documents that count upwards: the next token follows from the one before it."""
    documents = random_documents([9] * 40, vocab_size=20)
    starts = np.arange(40) % 6
    documents.token_ids.reshape(40, 9)[:, :8] = 4 + (starts[:, None] + np.arange(8)) % 16
    config = LanguageModelConfig(**SHARED | {"learning_rate": 0.05, "epochs": 8}, window_length=5, **changes)
    spec = ModelSpec(
        task="language_model", cell=cell, vocab_size=20, embedding_dim=8, units=8, seed=1, num_layers=config.num_layers,
        tie_embeddings=config.tie_embeddings, dropout=config.dropout, dropout_kind=config.dropout_kind,
    )  # fmt: skip
    return LanguageModelObjective(build_model(spec), config, documents, documents, seed=1), config


@pytest.mark.parametrize("cell", ["simple_rnn", "lstm", "gru"])
def test_a_classifier_learns_what_its_documents_tell(cell):
    objective, config = classifier(cell, bidirectional=True, dropout=0.1, word_dropout=0.05)
    history = fit(objective, config).history
    assert history[-1]["valid/accuracy"] > 0.7
    assert history[-1]["train/loss"] < history[0]["train/loss"]


@pytest.mark.parametrize("state", ["document", "stream"])
@pytest.mark.parametrize("cell", ["simple_rnn", "lstm", "gru"])
def test_a_language_model_learns_to_count(cell, state):
    objective, config = language_model(cell, state=state, tie_embeddings=True)
    history = fit(objective, config).history
    assert history[-1]["valid/perplexity"] < 0.6 * history[0]["valid/perplexity"]


@pytest.mark.parametrize("make", [classifier, language_model])
def test_two_trainings_with_one_seed_end_with_the_same_weights(make):
    finals = []
    for _ in range(2):
        objective, config = make("lstm", dropout=0.2)
        fit(objective, config)
        finals.append(objective.model.get_weights())
    for first, second in zip(*finals, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("make", [classifier, language_model])
def test_validation_does_not_change_what_comes_after_it(make):
    objective, _ = make("gru")
    assert objective.validate() == objective.validate()


@pytest.mark.parametrize("make", [classifier, language_model])
@pytest.mark.parametrize("changes", [{"dropout_kind": "step", "dropout": 0.2}, {"recurrent_dropout": 0.1}])
def test_the_options_that_switch_the_fast_kernels_off_train_too(make, changes):
    objective, config = make("lstm", **changes)
    history = fit(objective, config).history
    assert history[-1]["train/loss"] < history[0]["train/loss"]


@pytest.mark.parametrize("make", [classifier, language_model])
def test_mixed_precision_trains_with_float32_weights(make):
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        objective, config = make("lstm")
        history = fit(objective, config).history
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert history[-1]["train/loss"] < history[0]["train/loss"]
    assert {str(weight.dtype) for weight in objective.model.weights} == {"float32"}


def test_a_step_follows_the_mean_over_all_tokens_so_that_published_rates_can_be_converted():
    objective, _ = language_model(state="stream")
    config = LanguageModelConfig(**SHARED | {"optimizer": "sgd", "learning_rate": 3.0, "global_clipnorm": None})
    model, batch = objective.model, next(objective.batches(0))
    token_ids, targets, padding_mask = batch.tensors[:3]
    logits = np.asarray(model(token_ids, padding_mask=padding_mask)[0], np.float64)[padding_mask]  # (N, V)
    wrong = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True) - np.eye(20)[targets[padding_mask]]
    optimizer = make_optimizer(config)
    step = make_train_step(model, optimizer, objective.loss, objective.signature, global_clipnorm=None, clipnorm=None)
    step(*batch.tensors, objective.first_state(batch))
    np.testing.assert_allclose(model.output_bias, -3.0 * wrong.mean(axis=0), rtol=1e-4, atol=1e-6)
