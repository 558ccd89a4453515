"""Answers of loaded models: those of the evaluate stage, in order, whatever the batch, and one for every text."""

import math
from pathlib import Path

import numpy as np
import pytest

import elman
from elman.artifacts import read_json, write_json
from elman.data.cleaning import clean_text
from elman.data.sequences import read_encoded
from elman.errors import DataError, MetricError
from elman.evaluation.classifier import evaluate_classifier
from elman.evaluation.language_model import evaluate_language_model
from elman.using import texts as texts_module
from elman.using.answers import score_together
from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel
from elman.using.texts import Refused
from tests.helpers.served_models import CLEANING, LABELS, MAX_LENGTH, random_texts, write_encoded, write_served

TEXTS = random_texts(70)
ODD = ["", " \t\n", "\u200b", "漢字かな", "the\x00 key", "</s><s><pad>", "the key " * 12_500]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    write_served(root, cell="gru")
    write_served(root, task="language_model", cell="lstm", num_layers=2)
    write_encoded(root, [clean_text(text, **CLEANING) for text in TEXTS])
    return root


@pytest.fixture(scope="module")
def classifier(root: Path) -> TextClassifier:
    return elman.load("gru", models=root / "models")


@pytest.fixture(scope="module")
def language_model(root: Path) -> TextLanguageModel:
    return elman.load("lstm", models=root / "models")


def test_classes_of_the_test_split_are_those_of_the_evaluate_stage(root: Path, classifier: TextClassifier) -> None:
    split = read_encoded(root / "encoded" / "test.parquet")
    evaluated = evaluate_classifier(classifier.model, split, max_length=MAX_LENGTH)
    found = classifier.classify(TEXTS)
    probabilities = np.array([list(one.probabilities.values()) for one in found])  # (N, C)
    np.testing.assert_allclose(np.log(probabilities), evaluated.scores.log_probabilities, rtol=0, atol=1e-6)
    assert [one.label for one in found] == [LABELS[number] for number in evaluated.scores.predicted]
    assert len({one.label for one in found}) > 1
    nll = -np.log([one.probabilities[LABELS[place % 3]] for place, one in enumerate(found)])
    assert nll.mean() == pytest.approx(evaluated.measures["nll_nats_per_document"], abs=1e-6)
    assert [one.num_tokens for one in found] == split.lengths.tolist()


def test_outputs_that_are_not_finite_are_an_error_and_no_class(
    classifier: TextClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = classifier._score
    monkeypatch.setattr(
        classifier,
        "_score",
        lambda batches: (found := score(batches))._replace(log_probabilities=found.log_probabilities * np.nan),
    )
    with pytest.raises(MetricError, match=r"gru/seed-1: the model's outputs are not finite"):
        classifier.classify(TEXTS[:2])


def test_another_word_for_the_state_is_refused(language_model: TextLanguageModel) -> None:
    with pytest.raises(DataError, match="state: document or stream is needed, but came 'streem'"):
        language_model.score(TEXTS[:1], state="streem")


@pytest.mark.parametrize("state", ["document", "stream"])
def test_scores_of_the_test_split_are_those_of_the_evaluate_stage(
    root: Path, language_model: TextLanguageModel, state: str
) -> None:
    split = read_encoded(root / "encoded" / "test.parquet")
    evaluated = evaluate_language_model(language_model.model, split, state=state, window_length=11)
    found = language_model.score(TEXTS, state=state)
    block = score_together(found)
    assert block.keys() == evaluated.measures.keys()
    for name, value in evaluated.measures.items():
        assert block[name] == pytest.approx(value, rel=1e-6), name
    np.testing.assert_allclose([one.nll_nats for one in found], evaluated.nll_nats, rtol=1e-6)
    nats = np.concatenate([one.token_nll_nats for one in found])
    np.testing.assert_allclose(nats, evaluated.token_nll_nats, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("task", ["classifier", "language_model"])
def test_answers_depend_neither_on_batch_nor_on_order_nor_on_pools(
    task: str,
    classifier: TextClassifier,
    language_model: TextLanguageModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def figures(texts: list[str], size: int) -> list[list[float]]:
        if task == "classifier":
            return [list(one.probabilities.values()) for one in classifier.classify(texts, batch_size=size)]
        return [[one.nll_nats, *one.token_nll_nats] for one in language_model.score(texts, rows=size)]

    order = np.random.default_rng(3).permutation(len(TEXTS))
    whole = figures(TEXTS, 64)
    shuffled = figures([TEXTS[place] for place in order], 3)
    monkeypatch.setattr(texts_module, "_POOL_TEXTS", 5)
    for place, other in zip(order, shuffled, strict=True):
        np.testing.assert_allclose(other, whole[place], rtol=0, atol=2e-5)
    for one, other in zip(figures(TEXTS, 64), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-5)


def test_a_stream_goes_on_from_pool_to_pool(language_model: TextLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [one.nll_nats for one in language_model.score(TEXTS[:12], state="stream")]
    monkeypatch.setattr(texts_module, "_POOL_TEXTS", 5)
    parts = [one.nll_nats for one in language_model.score(TEXTS[:12], state="stream")]
    np.testing.assert_allclose(parts, whole, rtol=1e-5)
    alone = [one.nll_nats for one in language_model.score(TEXTS[:12], state="document")]
    assert alone[0] == pytest.approx(whole[0], rel=1e-5)
    assert np.abs(np.subtract(alone, whole)[1:]).min() > 1e-4


def test_every_odd_text_has_a_class(classifier: TextClassifier) -> None:
    found = classifier.classify(ODD)
    for one in found:
        assert sum(one.probabilities.values()) == pytest.approx(1.0, abs=1e-6)
        assert one.probability == max(one.probabilities.values()) == one.probabilities[one.label]
    assert [one.num_tokens for one in found[:3]] == [1, 1, 1]
    assert found[0] == found[1] == found[2]  # nothing to read: the eos alone
    assert found[4].probabilities == pytest.approx(classifier.classify(["the key"])[0].probabilities, abs=1e-6)
    assert not found[4].cut
    assert (found[6].cut, found[6].num_tokens_read) == (True, MAX_LENGTH)
    assert found[6].num_tokens > 90_000
    beginning = classifier.classify(["the key " * 4])[0]
    assert found[6].probabilities == pytest.approx(beginning.probabilities, abs=1e-6)
    assert found[6].to_json()["cut"] is True


def test_every_odd_text_has_a_score(language_model: TextLanguageModel) -> None:
    found = language_model.score([*ODD[:-1], ODD[-1][:2_000]])
    assert [one.pieces for one in found[:3]] == [("</s>",)] * 3
    assert (found[0].num_words, found[0].num_bytes) == (1, 1)
    assert (found[3].num_unk, found[3].num_words, found[3].num_bytes) == (1, 2, 13)
    assert found[5].pieces[:2] == ("▁", "<unk>")  # what looks like a special piece is text
    assert found[6].num_tokens == 2_001  # cleaning takes the last space, the tokenizer puts one in front
    for one in found:
        assert one.nll_nats == pytest.approx(math.fsum(one.token_nll_nats), rel=1e-12)
        assert min(one.token_nll_nats) > 0.0
        assert one.perplexity == pytest.approx(math.exp(one.nll_nats / one.num_tokens), rel=1e-12)
        assert one.bits_per_byte == pytest.approx(one.nll_nats / math.log(2) / one.num_bytes, rel=1e-12)
        values = one.to_json(tokens=True)
        assert [token["piece"] for token in values["tokens"]] == list(one.pieces)
        assert values["num_documents"] == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("\x1bthe \ud83d key", r"row 3: character 6 is half of a surrogate pair \(U\+D83D\)"),
        (None, "row 3: a text is needed, but came NoneType"),
        (b"the key", "row 3: a text is needed, but came bytes"),
        (Refused("no such row"), "row 3: no such row"),
    ],
)
def test_a_row_that_is_no_text_is_named_and_stops_no_other(
    classifier: TextClassifier, language_model: TextLanguageModel, bad: object, reason: str
) -> None:
    rows = ["the key", "old", bad, "new"]
    for strict, each in (
        (classifier.classify, classifier.classify_each),
        (language_model.score, language_model.score_each),
    ):
        with pytest.raises(DataError, match=reason):
            strict(rows)
        found = list(each(rows))
        assert [isinstance(one, Refused) for one in found] == [False, False, True, False]
        assert found[3] == list(each(["the key", "old", "new"]))[2]


def test_one_text_instead_of_several_is_refused(classifier: TextClassifier) -> None:
    with pytest.raises(DataError, match=r"write \[text\]"):
        classifier.classify("the key")
    assert classifier.classify([]) == []


def test_answers_come_while_texts_do(classifier: TextClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts_module, "_POOL_CHARACTERS", 10)
    given = []

    def texts():
        for number in range(1_000_000):
            given.append(number)
            yield "the keys"

    answers = classifier.classify_each(texts())
    assert [next(answers).num_tokens for _ in range(4)] == [10] * 4
    assert len(given) == 4


def test_texts_are_cleaned_as_the_model_says(root: Path) -> None:
    model = elman.load("gru", models=root / "models")
    lower, upper = model.classify(["the  key", "THE KEY"])
    assert lower == upper
    path = root / "models" / "classifier" / "gru" / "serving.json"
    serving = read_json(path)
    write_json(path, {**serving, "cleaning": {**CLEANING, "lowercase": False, "whitespace": "keep"}})
    try:
        found = elman.load("gru", models=root / "models").classify(["the  key", "the key", "THE KEY"])
        assert [one.num_tokens for one in found] == [10, 9, 5]
    finally:
        write_json(path, serving)
