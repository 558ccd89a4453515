"""Every route over real HTTP, with models that compute nothing: what comes back for good, bad and too many requests."""

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, NamedTuple

import pytest

from tests.helpers.fake_served import BAD, FakeClassifier, FakeLanguageModel
from tests.helpers.running_server import Client, running
from tests.helpers.stage_deps import ROOT

LIMITS = {"max_body_bytes": 5000, "max_characters": 1000, "max_texts": 5, "max_waiting": 6, "max_streams": 3}


class Served(NamedTuple):
    client: Client
    classifier: FakeClassifier
    language_model: FakeLanguageModel


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    classifier, language_model = FakeClassifier(), FakeLanguageModel()
    with running(classifier, language_model, **LIMITS, max_generations=2) as client:
        yield Served(client, classifier, language_model)


@pytest.fixture(scope="module")
def impatient() -> Iterator[Served]:
    """Waits for a second."""
    classifier, language_model = FakeClassifier(), FakeLanguageModel(seconds=0.01)
    with running(classifier, language_model, request_seconds=1.0) as client:
        yield Served(client, classifier, language_model)


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    yield served.client
    served.classifier.going.set()
    served.language_model.seconds = 0.0


def until(true: Callable[[], object], seconds: float = 5.0) -> None:
    last = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < last
        time.sleep(0.01)


def test_texts_are_answered_in_order_an_empty_one_too(client: Client) -> None:
    answer = client.post("/classify", {"texts": ["a" * 60, "", "abc"]})
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    found = answer.json["classifications"]
    assert [one["label"] for one in found] == ["long", "short", "short"]
    assert found[0]["probabilities"]["long"] == pytest.approx(0.75)
    scores = client.post("/score", {"texts": ["one three", ""], "tokens": True}).json["scores"]
    assert [score["nll_nats"] for score in scores] == [12, 4]
    assert [token["piece"] for token in scores[0]["tokens"]] == ["▁one", "▁three", "</s>"]
    assert "tokens" not in client.post("/score", {"texts": ["one"]}).json["scores"][0]


def test_requests_at_the_same_time_are_batched_and_none_is_mixed_up(served: Served, client: Client) -> None:
    served.classifier.batches.clear()
    served.classifier.seconds = 0.01

    def ask(number: int) -> float:
        found = client.post("/classify", {"texts": ["x" * number]}).json["classifications"][0]
        return float(found["probabilities"]["long"])

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(ask, range(60)))
    served.classifier.seconds = 0.0
    assert found == pytest.approx([1 - 1 / (1 + number / 20) for number in range(60)])
    assert sum(served.classifier.batches) == 60
    assert len(served.classifier.batches) < 40
    assert served.classifier.threads == {"elman-model_0"}


BAD_REQUESTS: list[tuple[str, str, bytes | None, int, str]] = [
    ("POST", "/classify", b'{"texts": ["a"', 400, "the body is no JSON: "),
    ("POST", "/classify", b'{"texts": ["\xe9"]}', 400, "error parsing the body"),
    ("POST", "/classify", b"[" * 4000, 400, "error parsing the body"),
    ("POST", "/classify", b"", 422, "the body: Field required"),
    ("POST", "/classify", b"[]", 422, "the body: Input should be a valid dictionary"),
    ("POST", "/classify", b'{"texts": "one"}', 422, "texts: Input should be a valid list"),
    ("POST", "/classify", b'{"texts": []}', 422, "texts: List should have at least 1 item"),
    ("POST", "/classify", b'{"texts": ["a", 3]}', 422, "texts.1: Input should be a valid string"),
    ("POST", "/classify", b'{"texts": ["a", null]}', 422, "texts.1: Input should be a valid string"),
    ("POST", "/classify", b'{"text": ["a"]}', 422, "texts: Field required"),
    ("POST", "/classify", b'{"texts": ["a"], "tokens": true}', 422, "tokens: Extra inputs are not permitted"),
    ("POST", "/classify", b'{"texts": ["a", "b\\ud800"]}', 422, "texts.1: character 2 is half of a surrogate pair"),
    ("POST", "/classify", b'{"texts": ["1","2","3","4","5","6"]}', 413, "texts: at most 5 are allowed"),
    ("POST", "/score", b'{"texts": ["' + b"a" * 1001 + b'"]}', 413, "texts.0: at most 1000 characters are allowed"),
    ("POST", "/score", b'{"texts": ["' + b"a" * 100_000 + b'"]}', 413, "a body of at most 5000 bytes is allowed"),
    ("POST", "/score", b'{"texts": ["a"], "tokens": 1}', 422, "tokens: Input should be a valid boolean"),
    ("POST", "/generate", b'{"max_tokens": 1001}', 422, "max_tokens: at most 1000 are allowed, but came 1001"),
    ("POST", "/generate", b'{"max_tokens": 0}', 422, "max_tokens: Input should be greater than or equal to 1"),
    ("POST", "/generate", b'{"samples": 9}', 422, "samples: at most 8 are allowed"),
    ("POST", "/generate", b'{"sampler": "beam"}', 422, "sampler: Input should be 'greedy', 'random', 'top_k' or"),
    ("POST", "/generate", b'{"temperature": NaN}', 422, "temperature: "),
    ("POST", "/generate", b'{"temperature": 0}', 422, "temperature: Input should be greater than"),
    ("POST", "/generate", b'{"seed": -1}', 422, "seed: Input should be greater than or equal to 0"),
    ("POST", "/generate", b'{"prompt": "\\udc80"}', 422, "prompt: character 1 is"),
    ("POST", "/streams", b'{"task": "translate"}', 422, "task: Input should be 'classifier' or 'language_model'"),
    ("POST", "/streams", b'{"task": "classifier"}', 501, "this classifier is bidirectional"),
    ("POST", "/streams/nobody/feed", b'{"text": "a"}', 404, "no such stream"),
    ("POST", "/streams/nobody/finish", b"", 404, "no such stream"),
    ("DELETE", "/streams/nobody", None, 404, "no such stream"),
    ("POST", "/streams/nobody/feed", b"{}", 422, "text: Field required"),
    ("GET", "/classify", None, 405, "Method Not Allowed"),
    ("GET", "/nothing/here", None, 404, "Not Found; /docs lists the routes"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "message"), BAD_REQUESTS)
def test_a_bad_request_is_told_what_is_wrong(
    client: Client, method: str, path: str, body: bytes | None, status: int, message: str
) -> None:
    answer = client.ask(method, path, body, Content_Type="application/json")
    assert answer.status == status, answer.body
    assert set(answer.json) == {"error"}
    assert message in answer.json["error"]


def test_other_kinds_of_bodies_and_pages_of_other_sites_are_refused(client: Client) -> None:
    body = b'{"texts": ["a"]}'
    assert client.ask("POST", "/classify", body, Content_Type="text/plain").status == 415
    assert client.ask("POST", "/classify", body).status == 415
    assert client.post("/classify", {"texts": ["a"]}, Origin="http://elsewhere.example").status == 403
    assert client.post("/classify", {"texts": ["a"]}, Origin="null").status == 403
    assert client.post("/classify", {"texts": ["a"]}, Origin=client.address).status == 200
    # A name of another site that was made to mean this machine.
    assert client.ask("GET", "/", Host="elsewhere.example:8000").status == 403
    assert client.ask("GET", "/health", Host="localhost:8000").status == 200


def test_a_model_that_fails_on_one_text_fails_no_other_request(served: Served, client: Client) -> None:
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda text: client.post("/classify", {"texts": [text]}), ["ab", BAD, "cd"]))
    assert [answer.status for answer in found] == [200, 500, 200]
    assert found[1].json == {"error": "the model's outputs are not finite"}


def test_where_the_queue_is_full_a_client_is_told_when_to_come_back(served: Served, client: Client) -> None:
    served.classifier.batches.clear()
    served.classifier.going.clear()
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(client.post, "/classify", {"texts": ["a"]})
        until(lambda: served.classifier.batches)
        others = [pool.submit(client.post, "/classify", {"texts": ["b", "c"]}) for _ in range(3)]
        until(lambda: client.metric('elman_waiting_texts{kind="classify"}') == 6)
        refused = client.post("/classify", {"texts": ["d"]})
        assert client.ask("GET", "/health").status == 200  # it still says how it is
        served.classifier.going.set()
        assert [one.result().status for one in (first, *others)] == [200, 200, 200, 200]
    assert refused.status == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert "6 texts wait and at most 6 may" in refused.json["error"]
    assert client.post("/classify", {"texts": ["d"]}).status == 200


def test_an_answer_that_takes_too_long_is_given_up(impatient: Served) -> None:
    impatient.classifier.going.clear()
    answer = impatient.client.post("/classify", {"texts": ["a"]})
    impatient.classifier.going.set()
    assert answer.status == 504
    assert "within 1 seconds" in answer.json["error"]
    until(lambda: impatient.client.post("/classify", {"texts": ["a"]}).status == 200)


def test_a_body_of_unknown_length_is_limited_too(client: Client) -> None:
    with closing(HTTPConnection(client.address.removeprefix("http://"), timeout=30)) as connection:
        parts = (b"a" * 1000 for _ in range(6))
        connection.request("POST", "/classify", parts, {"Content-Type": "application/json"}, encode_chunked=True)
        with connection.getresponse() as answer:
            assert answer.status == 413
            assert b"at most 5000 bytes" in answer.read()


def test_a_body_that_does_not_come_is_not_waited_for(impatient: Served) -> None:
    host, port = impatient.client.address.removeprefix("http://").split(":")
    head = f"POST /classify HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n"
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(f"{head}\r\n{{".encode())
        assert b" 408 " in connection.recv(1000)


def test_generated_text_comes_as_events(client: Client) -> None:
    events = client.events({"prompt": " so ", "samples": 2, "max_tokens": 3})
    assert events[0] == ("prompt", {"text": "so"})
    assert events[-1] == ("done", {})
    texts = ["", ""]
    for _, values in events[1:-1]:
        texts[values["sample"]] += values["text"]
    assert texts == [" 0 1 2", " 0 1 2"]
    assert [values["end"] for name, values in events if name == "end"] == ["length", "length"]


def test_a_token_comes_before_the_next_one_is_drawn(served: Served, client: Client) -> None:
    served.language_model.seconds = 0.02
    drawn = served.language_model.drawn
    with client.open("POST", "/generate", b'{"max_tokens": 10}', Content_Type="application/json") as answer:
        while b'"text": " 0"' not in answer.readline():
            pass
        assert served.language_model.drawn - drawn < 9
        answer.read()


def test_a_text_is_not_gone_on_with_when_its_client_is_gone(served: Served, client: Client) -> None:
    served.language_model.seconds = 0.005
    before = client.metric('elman_generations_total{why="gone"}') or 0
    with client.open("POST", "/generate", b'{"max_tokens": 1000}', Content_Type="application/json") as answer:
        answer.readline()
    until(lambda: client.metric('elman_generations_total{why="gone"}') == before + 1)
    drawn = served.language_model.drawn
    time.sleep(0.2)  # time for 40 tokens
    assert served.language_model.drawn <= drawn + 1  # the one that was on its way when the client left
    assert client.metric("elman_generations") == 0


def test_generating_ends_when_its_time_is_over_and_when_the_model_fails(impatient: Served, client: Client) -> None:
    events = impatient.client.events({"max_tokens": 1000})
    assert events[-1] == ("error", {"error": "stopped after 1 seconds"})
    assert client.events({"prompt": BAD, "max_tokens": 5})[-1][0] == "error"


def test_texts_are_generated_in_turns_with_answers_between_and_no_more_than_the_limit(
    served: Served, client: Client
) -> None:
    served.language_model.seconds = 0.01
    with ThreadPoolExecutor(2) as pool:
        two = [pool.submit(client.events, {"max_tokens": 40}) for _ in range(2)]
        until(lambda: client.metric("elman_generations") == 2)
        third = client.post("/generate", {})
        assert (third.status, third.headers["retry-after"]) == (429, "1")
        drawn = served.language_model.drawn
        assert client.post("/classify", {"texts": ["a"]}).status == 200
        assert client.post("/score", {"texts": ["a"]}).status == 200
        assert served.language_model.drawn - drawn < 40
        assert [one.result()[-1][0] for one in two] == ["done", "done"]


def test_a_stream_is_fed_ended_and_deleted(client: Client) -> None:
    begun = client.post("/streams", {})
    assert begun.status == 201
    assert begun.json["task"] == "language_model"
    path = f"/streams/{begun.json['id']}"
    assert client.post(f"{path}/feed", {"text": "one three"}).json["nll_nats"] == 8
    fed = client.post(f"{path}/feed", {"text": ""}).json
    assert fed == {"tokens": [], "num_tokens": 2, "nll_nats": 8}
    ended = client.ask("POST", f"{path}/finish").json
    assert (ended["tokens"], ended["num_tokens"]) == ([{"piece": "</s>", "nll_nats": 4}], 3)
    assert client.post(f"{path}/feed", {"text": "new"}).json["num_tokens"] == 1
    assert client.ask("DELETE", path).status == 204
    assert client.post(f"{path}/feed", {"text": "more"}).status == 404


def test_streams_of_different_clients_are_fed_at_once_and_kept_apart(client: Client) -> None:
    ids = [client.post("/streams", {"task": "language_model"}).json["id"] for _ in range(3)]
    refused = client.post("/streams", {})
    assert refused.status == 429
    assert 590 <= int(refused.headers["retry-after"]) <= 600

    def feed(number: int) -> int:
        own = "x" * (1 + number % 3)
        return int(client.post(f"/streams/{ids[number % 3]}/feed", {"text": own}).json["nll_nats"])

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(feed, range(30)))
    assert sorted(found[0::3]) == list(range(1, 11))
    assert sorted(found[1::3]) == list(range(2, 22, 2))
    assert sorted(found[2::3]) == list(range(3, 33, 3))
    # One that failed is ended, since nobody knows what it has read.
    assert client.post(f"/streams/{ids[0]}/feed", {"text": BAD}).status == 500
    assert client.post(f"/streams/{ids[0]}/feed", {"text": "a"}).status == 404
    for one in ids[1:]:
        client.ask("DELETE", f"/streams/{one}")
    assert client.metric("elman_streams") == 0


def test_health_says_what_is_served(client: Client) -> None:
    found = client.ask("GET", "/health")
    assert (found.status, found.json["status"]) == (200, "ok")
    assert found.json["models"]["language_model"] == {"name": "language_model/gru", "cell": "gru", "seed": 2}
    assert found.json["limits"]["max_texts"] == 5


def test_metrics_count_by_route_and_status(client: Client) -> None:
    line = 'elman_requests_total{route="/classify",method="POST",status="200"}'
    before = client.metric(line) or 0
    for _ in range(3):
        client.post("/classify", {"texts": ["a"]})
    client.ask("GET", "/made/up/1")
    assert client.metric(line) == before + 3
    text = client.ask("GET", "/metrics").body.decode()
    assert "/made/up" not in text
    assert 'route="/streams/{stream_id}/feed"' in text
    assert re.search(r"^elman_resident_memory_bytes \d{7,}$", text, flags=re.MULTILINE)
    assert re.search(r'^elman_request_seconds_count\{route="/classify"\} \d+$', text, flags=re.MULTILINE)
    assert all(re.fullmatch(r'# .*|\w+(\{(\w+="[^"]*",?)+\})? \S+', line) for line in text.splitlines())


def test_the_pages_load_nothing_from_elsewhere(client: Client) -> None:
    for path in ("/", "/docs"):
        page = client.ask("GET", path)
        assert page.status == 200
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert not re.search(rb"(src|href)=\"(https?:)?//|url\(|@import", page.body)
    assert json.loads(client.ask("GET", "/openapi.json").body)["paths"].keys() >= {"/classify", "/streams"}


def test_the_requests_that_the_guide_shows_are_answered(client: Client) -> None:
    guide = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8").replace(" \\\n", " ")
    shown = re.findall(
        r"^    curl (-X \w+ |-N )?http://127.0.0.1:8000(\S+)(?:.*-d '(.*)')?$", guide, flags=re.MULTILINE
    )
    assert len(shown) == 7
    stream_id = ""
    for option, path, body in shown:
        method = option.removeprefix("-X ").strip() if option.startswith("-X") else "POST"
        answer = client.ask(
            method, path.replace("ID", stream_id), body.encode() or None, Content_Type="application/json"
        )
        assert answer.status in (200, 201, 204), f"{path}: {answer.body!r}"
        stream_id = answer.json["id"] if path == "/streams" else stream_id


def test_a_task_that_is_not_served_says_so() -> None:
    with running(FakeClassifier(), None) as client:
        requests: list[tuple[str, Any]] = [("/score", {"texts": ["a"]}), ("/generate", {}),
                                           ("/streams", {"task": "language_model"})]  # fmt: skip
        for path, body in requests:
            answer = client.post(path, body)
            assert answer.status == 501
            assert "no language model is served here, only a classifier" in answer.json["error"]
