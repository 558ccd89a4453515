import numpy as np

from elman.diagnostics.studies.agreement_model import AgreementModel, share_right
from elman.diagnostics.studies.agreement_sentences import (
    PLURAL_VERBS,
    SINGULAR_VERBS,
    WORDS,
    agreement_sentences,
)


def test_a_verb_is_right_where_its_number_has_more_probability_in_sum():
    probabilities = np.zeros((3, len(WORDS)))
    probabilities[0, PLURAL_VERBS[:3]] = 0.2  # 0.6 in three parts against 0.4 in one
    probabilities[0, SINGULAR_VERBS[0]] = 0.4
    probabilities[1, SINGULAR_VERBS[2]] = 0.9
    probabilities[2, SINGULAR_VERBS[2]] = 0.9
    assert share_right(probabilities, np.array([1, 0, 1])) == 2 / 3


def test_a_model_that_prefers_plural_verbs_is_right_for_plural_subjects_only():
    model = AgreementModel("gru", units=4, embedding_dim=3, seed=1)
    sentences = agreement_sentences(np.random.default_rng(1), count=50, attractors=2)
    bias = np.zeros(len(WORDS))
    bias[PLURAL_VERBS] = 20.0
    model.head.set_weights([np.zeros((4, len(WORDS))), bias])
    assert model.accuracy(sentences) == sentences.plural[:, 0].mean()


def test_the_loss_of_a_model_that_knows_nothing_is_the_log_of_the_number_of_words():
    model = AgreementModel("lstm", units=4, embedding_dim=3, seed=1)
    model.head.set_weights([np.zeros((4, len(WORDS))), np.zeros(len(WORDS))])
    token_ids = agreement_sentences(np.random.default_rng(2), count=5, attractors=1).token_ids
    np.testing.assert_allclose(float(model.loss(token_ids)), np.log(len(WORDS)), rtol=1e-5)


def test_every_weight_is_counted():
    model = AgreementModel("simple_rnn", units=4, embedding_dim=3, seed=1)
    assert model.parameters == sum(int(np.prod(part.shape)) for part in model.variables)
