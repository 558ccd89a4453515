"""Models for a server that compute nothing: answers can be told from the text, and take as long as is said."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from elman.errors import ArtifactError, MetricError
from elman.serving.forms import GenerateForm, Task
from elman.serving.served import Feed, TextAsk
from elman.using.generating.generated import Chunk

BAD = "not finite"  # a text that no model can answer


class FakeClassifier:
    """Says how long each text is; cannot read a stream.

    Attributes:
        batches: How many texts each call had.
        threads: Names of the threads that called.
        going: While it is clear, an answer waits for it.
    """

    task: Task = "classifier"

    def __init__(self, *, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.batches: list[int] = []
        self.threads: set[str] = set()
        self.going = threading.Event()
        self.going.set()

    def facts(self) -> dict[str, Any]:
        return {"name": "classifier/lstm", "cell": "lstm", "seed": 1, "labels": ["short", "long"]}

    def answer(self, asks: Sequence[TextAsk]) -> list[bytes]:
        self.batches.append(len(asks))
        self.threads.add(threading.current_thread().name)
        self.going.wait()
        time.sleep(self.seconds)
        if any(ask.text == BAD for ask in asks):
            raise MetricError("the model's outputs are not finite")
        return [_encoded(self._class_of(ask.text)) for ask in asks]

    def open_stream(self) -> Any:
        raise ArtifactError("this classifier is bidirectional")

    def feed(self, feeds: Sequence[Feed]) -> list[bytes]:
        raise AssertionError

    def _class_of(self, text: str) -> dict[str, Any]:
        share = 1.0 / (1.0 + len(text) / 20)
        probabilities = {"short": share, "long": 1.0 - share}
        label = max(probabilities, key=lambda name: probabilities[name])
        counts = {"num_tokens": len(text) + 1, "num_tokens_read": min(len(text) + 1, 100), "cut": len(text) >= 100}
        return {"label": label, "probability": probabilities[label], "probabilities": probabilities, **counts}


class FakeLanguageModel:
    """A token is a word, its nats are its length; goes on with a text by counting.

    Attributes:
        seconds: Of a generated token.
        drawn: Tokens that were generated.
    """

    task: Task = "language_model"

    def __init__(self, *, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.drawn = 0

    def facts(self) -> dict[str, Any]:
        return {"name": "language_model/gru", "cell": "gru", "seed": 2}

    def answer(self, asks: Sequence[TextAsk]) -> list[bytes]:
        return [_encoded(self._score_of(ask)) for ask in asks]

    def open_stream(self) -> list[str]:
        return []

    def feed(self, feeds: Sequence[Feed]) -> list[bytes]:
        """The stream keeps all words of its text."""
        answers = []
        for feed in feeds:
            if feed.text == BAD:
                raise MetricError("the model's outputs are not finite")
            new = ["</s>"] if feed.text is None else feed.text.split()
            feed.stream.extend(new)
            nats = sum(map(len, feed.stream))
            answers.append(_encoded({"tokens": _tokens(new), "num_tokens": len(feed.stream), "nll_nats": nats}))
            if feed.text is None:
                feed.stream.clear()
        return answers

    def begin(self, form: GenerateForm) -> tuple[str, Iterator[Chunk]]:
        return form.prompt.strip(), self._chunks(form)

    def _chunks(self, form: GenerateForm) -> Iterator[Chunk]:
        for number in range(form.max_tokens):
            for sample in range(form.samples):
                if form.prompt == BAD and number == 1:
                    raise MetricError("the model's outputs are not finite")
                time.sleep(self.seconds)
                self.drawn += 1
                yield Chunk(sample, f" {number}", 5, None)
        for sample in range(form.samples):
            yield Chunk(sample, "", None, "length")

    def _score_of(self, ask: TextAsk) -> dict[str, Any]:
        words = [*ask.text.split(), "</s>"]
        nats = sum(map(len, words))
        block = {"nll_nats": nats, "nll_nats_per_token": nats / len(words), "perplexity": 7.25, "bits_per_byte": 1.5}
        counts = {"num_tokens": len(words), "num_words": len(words), "num_bytes": len(ask.text) + 1, "num_documents": 1}
        return {**block, **counts, "unk_fraction": 0.0, **({"tokens": _tokens(words)} if ask.tokens else {})}


def _tokens(words: Sequence[str]) -> list[dict[str, Any]]:
    return [{"piece": word if word == "</s>" else f"▁{word}", "nll_nats": len(word)} for word in words]


def _encoded(values: dict[str, Any]) -> bytes:
    return json.dumps(values).encode()
