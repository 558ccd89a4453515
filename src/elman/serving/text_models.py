"""Trained models as the server asks them; see `elman.serving.served`."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from elman.errors import ArtifactError
from elman.serving.forms import GenerateForm, Task
from elman.serving.served import Feed, GeneratedPiece, TextAsk
from elman.using.answers import Classification
from elman.using.generating.sampling import make_sampling
from elman.using.streaming.stream import Stream
from elman.using.streaming.surprise_reader import Surprise
from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel


class ServedTextClassifier:
    """A classifier.

    Args:
        name: As the user named it.
        model: From `elman.load`.
    """

    task: Task = "classifier"

    def __init__(self, name: str, model: TextClassifier) -> None:
        self._name, self._model = name, model

    def facts(self) -> dict[str, Any]:
        """Cell, seed, labels and tokens that are read."""
        own = {"labels": list(self._model.labels), "max_length": self._model.max_length}
        return {**_facts(self._name, self._model), **own}

    def answer(self, asks: Sequence[TextAsk]) -> list[bytes]:
        """The class of each text."""
        return [_encoded(found.to_json()) for found in self._model.classify([ask.text for ask in asks])]

    def open_stream(self) -> Stream:
        """A stream.

        Raises:
            ArtifactError: The classifier is bidirectional.
        """
        return Stream(self._model)

    def feed(self, feeds: Sequence[Feed]) -> list[bytes]:
        """The class of each text so far."""
        answers: list[Classification] = _fed(feeds)
        return [_encoded(answer.to_json()) for answer in answers]

    def warm_up(self) -> None:
        """Compiles what the first requests would wait for."""
        _warm_up(self)


class ServedTextLanguageModel:
    """A language model.

    Args:
        name: As the user named it.
        model: From `elman.load`.
    """

    task: Task = "language_model"

    def __init__(self, name: str, model: TextLanguageModel) -> None:
        self._name, self._model = name, model

    def facts(self) -> dict[str, Any]:
        """Cell and seed."""
        return _facts(self._name, self._model)

    def answer(self, asks: Sequence[TextAsk]) -> list[bytes]:
        """The score of each text by itself, whatever else is asked."""
        scores = self._model.score([ask.text for ask in asks], state="document")
        return [_encoded(score.to_json(tokens=ask.tokens)) for ask, score in zip(asks, scores, strict=True)]

    def open_stream(self) -> Stream:
        """A stream."""
        return Stream(self._model)

    def feed(self, feeds: Sequence[Feed]) -> list[bytes]:
        """The surprise of the tokens that became certain; counts are those of the text so far, also where it ends."""
        before = [(feed.stream.num_tokens, feed.stream.nll_nats) for feed in feeds]
        answers: list[list[Surprise]] = _fed(feeds)
        return [
            _encoded(
                {
                    "tokens": [token._asdict() for token in tokens],
                    "num_tokens": count + len(tokens),
                    "nll_nats": nats + sum(token.nll_nats for token in tokens),
                }
            )
            for (count, nats), tokens in zip(before, answers, strict=True)
        ]

    def begin(self, form: GenerateForm) -> tuple[str, Iterator[GeneratedPiece]]:
        """The prompt as it was cleaned, and what follows, computed as it is asked for."""
        options = form.model_dump(include={"sampler", "temperature", "top_k", "top_p"})
        generator = self._model.generator
        prompt = generator.prompt(form.prompt)
        how = {"samples": form.samples, "max_tokens": form.max_tokens, "seed": form.seed}
        return prompt.text, generator.chunks(prompt, sampling=make_sampling(**options), **how)

    def warm_up(self) -> None:
        """Compiles what the first requests would wait for."""
        _warm_up(self)
        for samples in (1, 2):
            list(self.begin(GenerateForm(prompt="a", max_tokens=2, samples=samples))[1])


def _facts(name: str, model: TextClassifier | TextLanguageModel) -> dict[str, Any]:
    return {"name": name, "cell": model.serving.cell, "seed": model.seed, "fingerprint": model.fingerprint}


def _warm_up(served: ServedTextClassifier | ServedTextLanguageModel) -> None:
    served.answer([TextAsk(""), TextAsk("a b")])
    try:
        stream = served.open_stream()
    except ArtifactError:
        return
    served.feed([Feed(stream, "a b ")])
    served.feed([Feed(stream, None)])


def _fed(feeds: Sequence[Feed]) -> list[Any]:
    """The answers in order; those whose text goes on are read together, and so are those whose text ends."""
    going = [place for place, feed in enumerate(feeds) if feed.text is not None]
    ending = [place for place, feed in enumerate(feeds) if feed.text is None]
    fed = Stream.feed_many([feeds[place].stream for place in going], [feeds[place].text or "" for place in going])
    ended = Stream.finish_many([feeds[place].stream for place in ending])
    found = dict(zip([*going, *ending], [*fed, *ended], strict=True))
    return [found[place] for place in range(len(feeds))]


def _encoded(values: dict[str, Any]) -> bytes:
    """On the worker's thread, so that a long answer does not hold up the event loop."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
