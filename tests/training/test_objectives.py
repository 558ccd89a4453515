"""Both tasks through the real loop on small data."""

import keras
import numpy as np
import pytest

from elman.config import ClassifierConfig, LanguageModelConfig
from elman.evaluation.language_model import evaluate_language_model
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


def window_losses(objective, epoch=0):
    """Nats and targets of each window of an epoch, the state carried as the loop carries it."""
    state, losses = None, []
    for batch in objective.batches(epoch):
        if state is None:
            state = objective.first_state(batch)
        nll, count, state = objective.loss(*batch.tensors, state)
        losses.append((float(nll), int(count)))
    return np.array(losses)


def documents_of(lengths):
    return random_documents(lengths, vocab_size=20)


def objective_on(documents, cell, **changes):
    config = LanguageModelConfig(**SHARED | {"batch_size": 4}, **{"window_length": 5} | changes)
    spec = ModelSpec(
        task="language_model", cell=cell, vocab_size=20, embedding_dim=8, units=8, num_layers=2, seed=1,
        initializer="uniform", uniform_range=0.5,
    )  # fmt: skip
    return LanguageModelObjective(build_model(spec), config, documents, documents, seed=1), config


@pytest.mark.parametrize("state", ["document", "stream"])
def test_fifty_tokens_in_four_rows_of_five_steps_are_all_trained_on(state):
    # keras-team/keras#1561: what does not fill the last batch fails at the end of an epoch.
    objective, config = objective_on(documents_of([50]), "lstm", state=state)
    assert window_losses(objective)[:, 1].sum() == 50
    assert len(fit(objective, config).history) == config.epochs


@pytest.mark.parametrize("cell", ["simple_rnn", "lstm", "gru"])
@pytest.mark.parametrize("window_length", [1, 5, 7])
def test_the_loss_of_chunks_of_four_streams_is_that_of_the_whole_streams(cell, window_length):
    documents = documents_of([13, 2, 30, 9, 49])  # 103 tokens: streams of 26, 26, 26 and 25
    chunks, _ = objective_on(documents, cell, state="stream", window_length=window_length)
    whole, _ = objective_on(documents, cell, state="stream", window_length=1000)
    chunked, at_once = window_losses(chunks), window_losses(whole)
    assert len(at_once) == 1
    assert len(chunked) == -(-26 // window_length)
    assert chunked[:, 1].sum() == at_once[0, 1] == 103
    np.testing.assert_allclose(chunked[:, 0].sum(), at_once[0, 0], rtol=1e-5)


@pytest.mark.parametrize("cell", ["simple_rnn", "lstm", "gru"])
def test_training_and_evaluation_give_the_same_loss_with_a_fresh_state_at_each_document(cell):
    documents = documents_of([13, 2, 30, 9, 49, 1, 5])
    objective, _ = objective_on(documents, cell, state="document")
    alone = 0.0
    for start, end in zip(documents.offsets[:-1], documents.offsets[1:], strict=True):
        targets = documents.token_ids[start:end]
        inputs = np.concatenate([[2], targets[:-1]])[None].astype(np.int32)
        hidden, _ = objective.model.encode(inputs, np.ones(inputs.shape, bool))
        alone += float(objective.model.nll_sum(hidden[0], targets))
    np.testing.assert_allclose(window_losses(objective)[:, 0].sum(), alone, rtol=1e-5)
    evaluated = evaluate_language_model(objective.model, documents, state="document", window_length=5, rows=4)
    np.testing.assert_allclose(evaluated.nll_nats.sum(), alone, rtol=1e-5)
    assert objective.validate()["valid/loss"] == pytest.approx(alone / documents.num_tokens, rel=1e-5)
