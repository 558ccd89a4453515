"""A registered package as MLflow serves it: requests of all kinds, to the object and to a real server."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mlflow.exceptions import MlflowException

import elman
from elman.packages.package import open_package
from elman.packages.writing import write_package
from elman.served_model import ServedModel, _load_pyfunc
from elman.tracking import store
from elman.tracking.flavor import PACKAGE, save_flavor
from elman.tracking.registry import CHAMPION, Registry
from tests.helpers.served_models import LABELS, random_texts, write_served

TEXTS = random_texts(6)
ABOUT: dict[str, Any] = {"params": {}, "metrics": {}, "provenance": {}}
NAME = "small news classifier"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    for task in ("classifier", "language_model"):
        write_package(write_served(root, task=task, cell="gru"), root / "packages" / task, **ABOUT)
    return root


@pytest.fixture(scope="module")
def classifier(root: Path) -> ServedModel:
    return _load_pyfunc(str(root / "packages/classifier"))


@pytest.fixture(scope="module")
def language_model(root: Path) -> ServedModel:
    return _load_pyfunc(str(root / "packages/language_model"))


def test_texts_come_as_a_table_a_list_or_an_array(root: Path, classifier: ServedModel) -> None:
    expected = elman.load(root / "packages/classifier").classify([*TEXTS, ""])
    texts = [*TEXTS, ""]
    for given in (pd.DataFrame({"id": range(7), "text": texts}), texts, np.array(texts), np.array(texts, object)):
        found = classifier.predict(given)
        assert list(found.columns) == ["label", "probability", "probabilities"]
        assert found["label"].tolist() == [one.label for one in expected]
        assert found["probability"].tolist() == [one.probability for one in expected]
        assert found["probabilities"].tolist() == [one.probabilities for one in expected]
    assert list(found["probabilities"][0]) == list(LABELS)
    assert classifier.predict([]).shape == (0, 3)


def test_a_language_model_scores_each_text_by_itself(root: Path, language_model: ServedModel) -> None:
    found = language_model.predict(TEXTS)
    expected = elman.load(root / "packages/language_model").score(TEXTS, state="document")
    assert list(found.columns) == ["nll_nats", "perplexity", "bits_per_byte", "num_tokens"]
    for name in found.columns:
        assert found[name].tolist() == [getattr(one, name) for one in expected]
    alone = language_model.predict(TEXTS[3:4])
    assert alone["nll_nats"][0] == pytest.approx(found["nll_nats"][3], rel=1e-6)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["the key", 5, None], "2 of 3 rows are no texts. row 2: a text is needed, but came int; row 3: .*NoneType"),
        ([float("nan")], "row 1: a text is needed, but came NoneType"),
        ([["the key"], "old"], "row 1: a text is needed, but came list"),
        (["old \ud83d"], "row 1: character 5 is half of a surrogate pair"),
        (pd.DataFrame({"review": ["old"]}), "a column 'text' is needed; the request has review"),
        ("the key", "a list of texts is needed, and one text came"),
    ],
)
def test_a_row_that_is_no_text_is_named(classifier: ServedModel, rows: object, message: str) -> None:
    with pytest.raises(MlflowException, match=message) as caught:
        classifier.predict(rows)
    assert caught.value.get_http_status_code() == 400


def test_many_threads_get_their_own_answers(language_model: ServedModel) -> None:
    texts = random_texts(16, seed=5)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: language_model.predict([text])["nll_nats"][0], texts))
    assert found == pytest.approx(language_model.predict(texts)["nll_nats"].tolist(), rel=1e-5)


def test_mlflow_loads_what_is_saved_and_its_signature_fits_what_comes_out(root: Path, tmp_path: Path) -> None:
    for task in ("classifier", "language_model"):
        save_flavor(open_package(root / "packages" / task), tmp_path / task)
        import mlflow.pyfunc  # afterwards: at its first import it warns, which `save_flavor` keeps quiet

        loaded = mlflow.pyfunc.load_model(str(tmp_path / task))
        found = loaded.predict(loaded.input_example)
        assert list(found.columns) == loaded.metadata.get_output_schema().input_names()
        assert len(found) == 2
        assert open_package(tmp_path / task / PACKAGE).hash == open_package(root / "packages" / task).hash
        with pytest.raises(MlflowException, match="row 1: a text is needed, but came int"):
            loaded.predict(pd.DataFrame({"text": [7]}))


@pytest.fixture(scope="module")
def registered(root: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        registry = Registry.open(root, NAME)
        registry.promote(registry.add(root / "packages/classifier", run_id=None, tags={}), expected=None)
        yield


@pytest.fixture(scope="module")
def server(root: Path, registered: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`mlflow models serve` as docs/packages.md has it, on a free port; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = ["mlflow", "models", "serve", "-m", f"models:/{NAME}@{CHAMPION}", "--env-manager", "local"]
    own = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "MLFLOW_TRACKING_URI": store.store_uri(root)}
    log = tmp_path_factory.mktemp("log") / "server.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", port],
            env={**os.environ, **own, "MLFLOW_DISABLE_TELEMETRY": "true"},
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        for _ in range(1200):
            assert process.poll() is None, log.read_text()
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=10)
                break
            except OSError:
                time.sleep(0.25)
        yield f"http://127.0.0.1:{port}/invocations"
    finally:
        _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the command and the server that it started, and waits until both are gone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            for _ in range(120):
                os.killpg(process.pid, number)
                process.poll()
                time.sleep(0.25)
        except ProcessLookupError:
            return


def ask(address: str, body: object) -> tuple[int, Any]:
    """Status and answer of a request; `body` is sent as JSON unless it is bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.slow
def test_a_server_answers_all_kinds_of_requests(root: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One server for all: its start takes seconds."""
    monkeypatch.chdir(root)
    model = elman.load(f"models:/{NAME}@champion")
    assert model.folder == Path(f"models:/{NAME}@champion")
    texts = ["", " ", "the key " * 12_500, "\U0001f642" * 25_000, *TEXTS]  # 100 kB twice
    expected = [{"label": one.label, "probability": one.probability} for one in model.classify(texts)]

    def same(answer: Any, wanted: list[dict[str, Any]]) -> None:
        assert [row["label"] for row in answer["predictions"]] == [row["label"] for row in wanted]
        for row, one in zip(answer["predictions"], wanted, strict=True):
            assert row["probability"] == pytest.approx(one["probability"], abs=1e-5)
            assert list(row["probabilities"]) == list(LABELS)

    for body in (
        {"inputs": texts},
        {"instances": [{"text": text} for text in texts]},
        {"dataframe_records": [{"text": text} for text in texts]},
        {"dataframe_split": {"columns": ["text"], "data": [[text] for text in texts]}},
    ):
        status, answer = ask(server, body)
        assert status == 200, answer
        same(answer, expected)
    for body, message in (
        (b'{"inputs": ["the key"', "valid JSON"),
        (b"\xff\xfe", "valid JSON"),
        (["the key"], "JSON dictionary"),
        ({"texts": ["the key"]}, "input fields"),
        ({"inputs": ["the key", None]}, "row 2: a text is needed"),
        ({"inputs": [5]}, "row 1: a text is needed, but came int"),
        ({"instances": [{"text": None}]}, "row 1: a text is needed"),
        ({"dataframe_records": [{"text": "the key"}, {"text": 5}]}, "row 2: a text is needed, but came int"),
        ({"dataframe_records": [{"review": "the key"}]}, "text"),
    ):
        status, answer = ask(server, body)
        assert status == 400, answer
        assert message in answer["message"]
        assert "Traceback" not in json.dumps(answer)
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda place: ask(server, {"inputs": [texts[place % len(texts)]]}), range(32)))
    for place, (status, answer) in enumerate(answers):
        assert status == 200, answer
        same(answer, [expected[place % len(texts)]])
