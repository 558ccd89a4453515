"""A server on a free port of this machine, in a thread of this process, and requests to it."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any, NamedTuple

from elman.serving.app import make_app
from elman.serving.limits import Limits
from elman.serving.listening import address_of, bind
from elman.serving.server import Server
from elman.serving.service import Service


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Requests to one server, each on a connection of its own."""

    def __init__(self, address: str) -> None:
        self.address = address

    @contextmanager
    def open(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Iterator[HTTPResponse]:
        with closing(HTTPConnection(self.address.removeprefix("http://"), timeout=60)) as connection:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, given)
            with connection.getresponse() as answer:
                yield answer

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        with self.open(method, path, body, **headers) as answer:
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())

    def post(self, path: str, values: object, **headers: str) -> Answer:
        return self.ask("POST", path, json.dumps(values).encode(), Content_Type="application/json", **headers)

    def events(self, values: object) -> list[tuple[str, dict[str, Any]]]:
        """All events of a generate request."""
        answer = self.post("/generate", values)
        assert answer.status == 200, answer.body
        parts = answer.body.decode().removesuffix("\n\n").split("\n\n")
        lines = [part.split("\n") for part in parts]
        return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in lines]

    def metric(self, line: str) -> float | None:
        """The value of a line of /metrics, by what stands before it."""
        for found in self.ask("GET", "/metrics").body.decode().splitlines():
            if found.startswith(f"{line} "):
                return float(found.removeprefix(line))
        return None


@contextmanager
def running(classifier: Any, language_model: Any, **limits: Any) -> Iterator[Client]:
    """Serves the models inside the block."""
    service = Service(classifier, language_model, Limits(**limits))
    bound = bind("127.0.0.1", 0, allow_outside=False)
    app = make_app(service, hosts={"127.0.0.1", "localhost"})
    listening = threading.Event()
    address = address_of(bound)
    server = Server(app, stop_seconds=5.0, listening=listening.set)
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    try:
        assert listening.wait(30)
        yield Client(address)
    finally:
        server.should_exit = True
        thread.join(30)
    assert not thread.is_alive()
