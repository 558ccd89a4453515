"""A score is a property of model and text: not of batch size, window or padding, and every target counts once."""

import math

import numpy as np
import pytest
import tensorflow as tf

from elman.config import LanguageModelConfig
from elman.data.sequences import EncodedDocuments, perplexity_counts
from elman.errors import MetricError
from elman.evaluation.classifier import evaluate_classifier
from elman.evaluation.language_model import evaluate_language_model
from elman.models.spec import ModelSpec
from elman.models.store import build_model, load_model, save_model
from elman.training.loop import fit
from elman.training.objectives import LanguageModelObjective
from tests.helpers.documents import random_documents

MEASURES = ("nll_nats_per_token", "perplexity", "perplexity_per_word", "bits_per_byte")


def language_model(cell="lstm"):
    spec = ModelSpec(
        task="language_model", cell=cell, vocab_size=20, embedding_dim=6, units=5, num_layers=2, dropout=0.5, seed=1
    )
    model = build_model(spec)
    for index, weight in enumerate(model.weights):
        weight.assign(np.random.default_rng(index).normal(scale=0.7, size=weight.shape))
    return model


@pytest.mark.parametrize("cell", ["simple_rnn", "lstm", "gru"])
def test_document_perplexity_does_not_depend_on_rows_or_window(cell):
    model, documents = language_model(cell), random_documents(range(1, 11))
    results = [
        evaluate_language_model(model, documents, state="document", window_length=window, rows=rows)
        for rows, window in [(1, 35), (3, 4), (10, 1000), (10, 1)]
    ]
    for other in results[1:]:
        np.testing.assert_allclose(other.token_nll_nats, results[0].token_nll_nats, rtol=1e-5, atol=1e-6)
        for name in MEASURES:
            assert other.measures[name] == pytest.approx(results[0].measures[name], rel=1e-6)


@pytest.mark.parametrize("window", [5, 35, 1000])
@pytest.mark.parametrize("rows", [1, 7, 10])
def test_stream_perplexity_does_not_depend_on_rows_or_window(window, rows):
    model, documents = language_model(), random_documents([400, 3, 600])  # 1,003 tokens
    result = evaluate_language_model(model, documents, state="stream", window_length=window, rows=rows)
    assert result.measures["num_tokens"] == 1003
    reference = evaluate_language_model(model, documents, state="stream", window_length=1003, rows=1)
    for name in MEASURES:
        assert result.measures[name] == pytest.approx(reference.measures[name], rel=1e-6)


def test_tokens_and_sums_of_documents_are_those_of_one_step_at_a_time():
    """The scorer against the plain definition: feed bos, t1..tn; -ln p of t1..tn, eos, and its sum."""
    model, documents = language_model("gru"), random_documents([5, 1, 3])
    expected = []
    for start, end in zip(documents.offsets[:-1], documents.offsets[1:], strict=True):
        targets = documents.token_ids[start:end]
        inputs = np.concatenate([[2], targets[:-1]])[None].astype(np.int32)
        logits, _ = model(inputs, padding_mask=np.ones(inputs.shape, bool))
        log_p = np.asarray(tf.nn.log_softmax(logits), np.float64)[0]
        expected.append(-log_p[np.arange(len(targets)), targets])
    result = evaluate_language_model(model, documents, state="document", window_length=3, rows=2)
    np.testing.assert_allclose(result.token_nll_nats, np.concatenate(expected), rtol=1e-5)
    np.testing.assert_allclose(result.nll_nats, [nats.sum() for nats in expected], rtol=1e-5)
    assert result.measures["num_tokens"] == 9


def test_evaluating_twice_gives_the_same_bits():
    model, documents = language_model(), random_documents([9, 4, 2])
    first, second = (
        evaluate_language_model(model, documents, state="stream", window_length=4).nll_nats for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_a_target_of_almost_no_probability_gives_a_finite_sum_and_a_flagged_perplexity():
    model, documents = language_model(), random_documents([1])  # the only target is eos
    model.output_bias.assign(np.where(np.arange(20) == 3, -1e4, 0.0))
    block = evaluate_language_model(model, documents, state="document", window_length=5).measures
    assert math.isfinite(block["nll_nats_per_token"])
    assert block["perplexity"] is None
    assert block["perplexity_overflow"] is True


def test_an_untrained_uniform_model_has_the_perplexity_of_the_vocabulary():
    model, documents = language_model(), random_documents([30, 20])
    for weight in model.weights:
        weight.assign(np.zeros(weight.shape))
    block = evaluate_language_model(model, documents, state="document", window_length=7).measures
    assert block["perplexity"] == pytest.approx(20.0, rel=1e-6)


def test_an_empty_split_is_an_error():
    one = random_documents([1])
    empty = EncodedDocuments(
        one.token_ids[:0], one.offsets[:1], one.ids[:0], one.labels[:0], one.num_words[:0], one.num_bytes[:0]
    )
    with pytest.raises(MetricError, match="num_tokens"):
        evaluate_language_model(language_model(), empty, state="document", window_length=5)


def test_words_and_bytes_count_one_eos_a_document():
    counts = perplexity_counts(random_documents([4, 2]))
    assert (counts["num_tokens"], counts["num_words"], counts["num_bytes"]) == (6, 6 + 2, 30 + 2)


@pytest.mark.parametrize("cell", ["simple_rnn", "lstm", "gru"])
def test_classifier_scores_do_not_depend_on_the_batch_size(cell):
    spec = ModelSpec(
        task="classifier", cell=cell, vocab_size=20, num_classes=3, embedding_dim=6, units=5, pooling="all", seed=2
    )
    model, documents = build_model(spec), random_documents([1, 17, 4, 9, 30, 2, 8])
    results = [evaluate_classifier(model, documents, max_length=12, batch_size=size) for size in (1, 3, 7)]
    for other in results[1:]:
        np.testing.assert_array_equal(other.scores.ids, results[0].scores.ids)
        np.testing.assert_allclose(
            other.scores.log_probabilities, results[0].scores.log_probabilities, rtol=1e-5, atol=1e-6
        )
        assert other.measures == pytest.approx(results[0].measures, rel=1e-6)


@pytest.mark.parametrize("state", ["document", "stream"])
def test_no_carried_state_reaches_an_evaluation_from_training_another_evaluation_or_the_file(state, tmp_path):
    # keras-team/keras#20327: a stateful layer takes its state from train into validation.
    model, documents = language_model(), random_documents([9, 4, 25, 2])
    config = LanguageModelConfig(
        embedding_dim=6, units=5, learning_rate=0.01, epochs=2, batch_size=2, window_length=4, state=state
    )
    fit(LanguageModelObjective(model, config, documents, documents, seed=1), config)

    def nll(model):
        return evaluate_language_model(model, documents, state=state, window_length=4, rows=2).nll_nats

    after_training = nll(model)
    evaluate_language_model(model, random_documents([30], seed=9), state=state, window_length=4)
    save_model(model, tmp_path)
    np.testing.assert_array_equal(nll(model), after_training)
    np.testing.assert_array_equal(nll(load_model(tmp_path)), after_training)
