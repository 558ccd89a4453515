"""Trained models over HTTP say what they say in Python, whoever asks beside them."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest

import elman
from elman.serving.text_models import ServedTextClassifier, ServedTextLanguageModel
from tests.helpers.pieces import cut_up
from tests.helpers.running_server import Client, running
from tests.helpers.served_models import random_texts, write_served

TEXTS = [*random_texts(62, seed=3), "", "日本 ü"]


class Served(NamedTuple):
    client: Client
    classifier: Any
    language_model: Any


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("served")
    write_served(root, cell="gru", bidirectional=False)
    write_served(root, task="language_model", cell="lstm", state="stream")
    models = {task: elman.load(f"{task}/{cell}", models=root / "models")
              for task, cell in (("classifier", "gru"), ("language_model", "lstm"))}  # fmt: skip
    classifier = ServedTextClassifier("gru", models["classifier"])
    language_model = ServedTextLanguageModel("lstm", models["language_model"])
    for one in (classifier, language_model):
        one.warm_up()
    with running(classifier, language_model, request_seconds=60.0) as client:
        yield Served(client, models["classifier"], models["language_model"])


def test_thirty_two_clients_at_once_get_what_each_text_gets_alone(served: Served) -> None:
    def ask(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
        classes = served.client.post("/classify", {"texts": [text]})
        scores = served.client.post("/score", {"texts": [text], "tokens": True})
        assert (classes.status, scores.status) == (200, 200)
        return classes.json["classifications"][0], scores.json["scores"][0]

    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(ask, TEXTS))
    for text, (classes, score) in zip(TEXTS, found, strict=True):
        (alone,) = served.classifier.classify([text])
        assert classes["label"] == alone.label
        np.testing.assert_allclose(
            list(classes["probabilities"].values()), list(alone.probabilities.values()), rtol=0, atol=1e-6
        )
        (expected,) = served.language_model.score([text], state="document")
        assert [token["piece"] for token in score["tokens"]] == list(expected.pieces)
        nats = [token["nll_nats"] for token in score["tokens"]]
        np.testing.assert_allclose(nats, expected.token_nll_nats, rtol=0, atol=1e-6)
        assert score["bits_per_byte"] == pytest.approx(expected.bits_per_byte, abs=1e-6)
    batches = served.client.metric('elman_batch_texts_count{kind="classify"}')
    assert batches is not None
    assert batches < len(TEXTS)


def test_a_request_of_many_texts_keeps_their_order(served: Served) -> None:
    found = served.client.post("/classify", {"texts": TEXTS}).json["classifications"]
    assert [one["num_tokens"] for one in found] == [one.num_tokens for one in served.classifier.classify(TEXTS)]


def test_generated_events_are_the_text_that_python_gives(served: Served) -> None:
    options = {"samples": 2, "max_tokens": 12, "sampler": "top_k", "top_k": 5, "temperature": 0.7, "seed": 9}
    with ThreadPoolExecutor(3) as pool:  # others generate at the same time
        alike = list(pool.map(lambda _: served.client.events({"prompt": "The key ", **options}), range(3)))
    expected = served.language_model.generate("The key ", **options)
    for events in alike:
        assert events[0] == ("prompt", {"text": expected[0].prompt})
        for sample, one in enumerate(expected):
            own = [values for _, values in events[1:-1] if values["sample"] == sample]
            assert "".join(values["text"] for values in own) == one.continuation
            assert own[-1]["end"] == one.end


def test_a_stream_in_any_pieces_is_the_score_of_the_whole_text(served: Served) -> None:
    def read(number: int) -> tuple[str, list[dict[str, Any]], float]:
        text = " ".join(TEXTS[number : number + 5])
        path = f"/streams/{served.client.post('/streams', {}).json['id']}"
        tokens = []
        for piece in cut_up(text, seed=number, pieces=6):
            tokens += served.client.post(f"{path}/feed", {"text": piece}).json["tokens"]
        last = served.client.ask("POST", f"{path}/finish").json
        assert served.client.ask("DELETE", path).status == 204
        return text, tokens + last["tokens"], last["nll_nats"]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, range(4)))
    for text, tokens, nats in found:
        (score,) = served.language_model.score([text], state="document")
        assert [token["piece"] for token in tokens] == list(score.pieces)
        np.testing.assert_allclose([token["nll_nats"] for token in tokens], score.token_nll_nats, rtol=0, atol=1e-5)
        assert nats == pytest.approx(score.nll_nats, rel=1e-5)


def test_a_stream_of_classes_ends_where_classify_does(served: Served) -> None:
    text = TEXTS[4]
    path = f"/streams/{served.client.post('/streams', {'task': 'classifier'}).json['id']}"
    so_far = served.client.post(f"{path}/feed", {"text": text}).json
    ended = served.client.ask("POST", f"{path}/finish").json
    (alone,) = served.classifier.classify([text])
    assert sum(so_far["probabilities"].values()) == pytest.approx(1.0)
    assert ended["probabilities"] == pytest.approx(alone.probabilities, abs=1e-5)
    assert (ended["num_tokens"], ended["cut"]) == (alone.num_tokens, alone.cut)


def test_health_names_the_models_and_answers_are_described_as_they_are(served: Served) -> None:
    health = served.client.ask("GET", "/health").json
    assert health["models"]["classifier"]["labels"] == list(served.classifier.labels)
    assert health["models"]["language_model"]["fingerprint"] == served.language_model.fingerprint
    schemas = json.loads(served.client.ask("GET", "/openapi.json").body)["components"]["schemas"]
    classes = served.client.post("/classify", {"texts": ["a"]}).json["classifications"][0]
    assert set(classes) == set(schemas["ClassificationAnswer"]["properties"])
    score = served.client.post("/score", {"texts": ["a"], "tokens": True}).json["scores"][0]
    assert set(score) == set(schemas["ScoreOfText"]["properties"])
