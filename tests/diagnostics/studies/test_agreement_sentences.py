import numpy as np
import pytest

from elman.diagnostics.studies.agreement_sentences import (
    NOUNS,
    PREPOSITIONS,
    VERBS,
    agreement_sentences,
    last_noun_accuracy,
    majority_accuracy,
    sentence_text,
)

NUMBER = {form: number for pair in (*NOUNS, *VERBS) for number, form in enumerate(pair)}


@pytest.mark.parametrize("numbers", ["random", "opposite"])
def test_the_verb_agrees_with_the_subject_and_every_place_holds_its_kind_of_word(numbers):
    sentences = agreement_sentences(np.random.default_rng(1), count=200, attractors=3, numbers=numbers)
    nouns = {form for pair in NOUNS for form in pair}
    for token_ids, plural in zip(sentences.token_ids, sentences.plural, strict=True):
        words = sentence_text(token_ids).split()
        assert len(words) == 2 + 3 * 3 + 1
        assert [NUMBER[word] for word in words[1:-1:3]] == plural.tolist()
        assert NUMBER[words[-1]] == plural[0]
        assert set(words[0:-1:3]) == {"the"}
        assert set(words[1:-1:3]) <= nouns
        assert set(words[2:-1:3]) <= set(PREPOSITIONS)


def test_opposite_attractors_never_have_the_number_of_the_subject():
    plural = agreement_sentences(np.random.default_rng(2), count=300, attractors=4, numbers="opposite").plural
    assert (plural[:, 1:] != plural[:, :1]).all()
    assert 100 < plural[:, 0].sum() < 200


def test_random_attractors_say_nothing_of_the_subject():
    plural = agreement_sentences(np.random.default_rng(3), count=20_000, attractors=2).plural
    assert (np.abs(np.corrcoef(plural.T)[np.triu_indices(3, 1)]) < 0.03).all()


def test_without_attractors_the_sentence_is_subject_and_verb():
    sentences = agreement_sentences(np.random.default_rng(4), count=5, attractors=0)
    assert sentences.token_ids.shape == (5, 4)
    assert last_noun_accuracy(sentences.plural) == majority_accuracy(sentences.plural) == 1.0


def test_baselines_on_worked_sentences():
    # Subject first: plural by 3 of 3; by 1 of 3; a tie of 2 and 2; singular, last noun plural, most singular.
    rows = [np.array([[1, 1, 1], [1, 0, 0], [0, 0, 1]]), np.array([[1, 0, 0, 1]])]
    assert last_noun_accuracy(rows[0]) == pytest.approx(1 / 3)
    assert majority_accuracy(rows[0]) == pytest.approx(2 / 3)
    assert last_noun_accuracy(rows[1]) == 1.0
    assert majority_accuracy(rows[1]) == 0.5
