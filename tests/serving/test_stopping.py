"""A server that is asked to stop answers what it has taken, and ends with 0."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.helpers.running_server import Client
from tests.helpers.stage_deps import ROOT

# What the command does, with models that compute nothing and therefore need no TensorFlow.
SERVE = """
from elman import cli_serve
from elman.cli import main
from tests.helpers.fake_served import FakeClassifier, FakeLanguageModel
models = {"classifier": FakeClassifier(seconds=0.5), "language_model": FakeLanguageModel(seconds=0.02)}
cli_serve._loaded = lambda names, folder: models
main()
"""


def start(*options: str) -> tuple["subprocess.Popen[str]", Client]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-c", SERVE, "serve", "gru", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("listening on http://127.0.0.1:"), line + process.stderr.read()
    return process, Client(line.split()[-1])


def test_what_was_taken_is_answered_and_nothing_more_is_taken() -> None:
    process, client = start()
    with ThreadPoolExecutor(5) as pool:
        text = pool.submit(client.events, {"max_tokens": 40})
        classes = [pool.submit(client.post, "/classify", {"texts": ["a" * place]}) for place in range(1, 5)]
        while client.metric("elman_generations") != 1 or not client.metric('elman_batch_texts_count{kind="classify"}'):
            time.sleep(0.01)
        process.terminate()
        assert text.result()[-1] == ("done", {})
        assert [answer.result().status for answer in classes] == [200] * 4
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    assert errors == "stopped; all that was taken is answered\n"
    with pytest.raises(ConnectionError):
        client.ask("GET", "/health")


def test_what_takes_too_long_is_cut_and_the_exit_code_says_so() -> None:
    process, client = start("--stop-seconds", "0.3")
    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(client.ask, "POST", "/generate", b'{"max_tokens": 1000}', Content_Type="application/json")
        while client.metric("elman_generations") != 1:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)  # as Ctrl-C does
        with pytest.raises(Exception, match="IncompleteRead"):
            raise text.exception() or AssertionError
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert errors.endswith("error: 1 requests were not answered within 0.3 seconds of being stopped\n")
