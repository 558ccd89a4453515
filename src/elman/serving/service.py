"""A running server without its HTTP: models, batches, streams, counts."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from elman.errors import ConfigError
from elman.serving.batching import Batcher
from elman.serving.checks import check_generate, check_text, check_texts
from elman.serving.forms import GenerateForm, Task
from elman.serving.generation import Generation
from elman.serving.generation_response import GenerationResponse
from elman.serving.limits import Limits
from elman.serving.measures import Measures
from elman.serving.request_error import RequestError
from elman.serving.served import Feed, Served, ServedLanguageModel, TextAsk
from elman.serving.sessions import Sessions
from elman.serving.worker import Worker

_SWEEP_SECONDS = 5.0  # between two looks for streams that are idle for too long
_WORDS = {"classifier": "classifier", "language_model": "language model"}


class Service:
    """Answers requests with at most one classifier and one language model.

    Args:
        classifier: Or None.
        language_model: Or None.
        limits: How much is taken.

    Raises:
        ConfigError: There is neither.
    """

    def __init__(self, classifier: Served | None, language_model: ServedLanguageModel | None, limits: Limits) -> None:
        if classifier is None and language_model is None:
            raise ConfigError("a classifier or a language model is needed, or one of each; came none")
        self.limits = limits
        self._language_model = language_model
        self.models: dict[Task, Served] = {}
        for served in (classifier, language_model):
            if served is not None:
                self.models[served.task] = served
        self._worker = Worker()
        self._generating = 0
        self.measures = Measures(
            waiting=self._waiting, streams=lambda: len(self._sessions), generations=lambda: self._generating
        )
        self._sessions = Sessions(
            limit=limits.max_streams, idle_seconds=limits.stream_idle_seconds, clock=time.monotonic,
            closed=self.measures.streams_closed.add,
        )  # fmt: skip
        self._answers = {task: self._answer_batcher(task) for task in self.models}
        self._feeds = {task: self._feed_batcher(task) for task in self.models}
        self._tasks: list[asyncio.Task[None]] = []

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answers inside the block."""
        batchers: list[Batcher[Any, bytes]] = [*self._answers.values(), *self._feeds.values()]
        self._tasks = [asyncio.create_task(work) for work in (*(one.work() for one in batchers), self._sweep())]
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._worker.close()

    @property
    def broken(self) -> bool:
        """Whether a part of the server has ended that never should."""
        return any(task.done() for task in self._tasks)

    async def answer(self, task: Task, texts: Sequence[str], *, tokens: bool = False) -> list[bytes]:
        """A JSON object for each text, in order: its class or its score.

        Raises:
            RequestError: A limit is exceeded, a text is none, too many wait, or it takes too long.
        """
        self._check_served(task)
        check_texts(texts, self.limits)
        async with self._in_time():
            asks = [TextAsk(text, tokens) for text in texts]
            return await self._answers[task].ask(asks, [len(text) for text in texts])

    async def generate(self, form: GenerateForm) -> GenerationResponse:
        """The response that goes on with a text.

        Raises:
            RequestError: A limit is exceeded, the prompt is no text, or as many as may be are generating.
            ElmanError: An option does not go with the model.
        """
        self._check_served("language_model")
        assert self._language_model is not None
        check_generate(form, self.limits)
        limits = self.limits
        if self._generating >= limits.max_generations:
            message = f"{self._generating} texts are being generated, as many as may be; ask again later"
            raise RequestError(429, message, retry_after=1)
        self._generating += 1
        try:
            async with self._in_time(), self._worker.turn() as run:
                prompt, pieces = await run(self._language_model.begin, form)
        except BaseException:
            self._generated("refused")
            raise
        counted = lambda count: self.measures.tokens.add(count=count)  # noqa: E731
        seconds = limits.request_seconds
        generation = Generation(prompt, pieces, worker=self._worker, seconds=seconds, counted=counted)
        return GenerationResponse(generation, ended=self._generated)

    async def open_stream(self, task: Task | None) -> dict[str, Any]:
        """Begins a stream.

        Raises:
            RequestError: The model is not served, or there are as many streams as there may be.
            ArtifactError: The model cannot read a text that has no end yet.
        """
        chosen: Task = task or ("language_model" if "language_model" in self.models else "classifier")
        self._check_served(chosen)
        self._sessions.check_room()
        async with self._in_time(), self._worker.turn() as run:
            stream = await run(self.models[chosen].open_stream)
        session = self._sessions.open(stream, task=chosen)
        return {"id": session.id, "task": chosen, "idle_seconds": self._sessions.idle_seconds}

    async def feed(self, session_id: str, text: str | None) -> bytes:
        """Gives a stream its next piece, or with None its end; one after the other, in the order of asking.

        A stream of which it is not known what it has read, since this failed or took too long, is ended.

        Raises:
            RequestError: There is no such stream, a limit is exceeded, too many wait, or it takes too long.
        """
        if text is not None:
            check_text(text, "text", self.limits)
        async with self._in_time(), self._sessions.using(session_id) as session:
            batcher = self._feeds[session.task]  # type: ignore[index]
            try:
                (answer,) = await batcher.ask([Feed(session.stream, text)], [len(text or "")])
            except RequestError:
                raise  # it was not taken
            except BaseException:
                with contextlib.suppress(RequestError):  # it may have been deleted meanwhile
                    self._sessions.close(session_id, why="failed")
                raise
            return answer

    def close_stream(self, session_id: str) -> None:
        """Ends a stream.

        Raises:
            RequestError: There is no such stream.
        """
        self._sessions.close(session_id, why="deleted")

    def _answer_batcher(self, task: Task) -> Batcher[TextAsk, bytes]:
        kind = {"classifier": "classify", "language_model": "score"}[task]
        return Batcher(self.models[task].answer, name=kind, alone=True, **self._batching(kind))

    def _feed_batcher(self, task: Task) -> Batcher[Feed, bytes]:
        kind = {"classifier": "feed_classifier", "language_model": "feed_language_model"}[task]
        return Batcher(self.models[task].feed, name=kind, alone=False, **self._batching(kind))

    def _batching(self, kind: str) -> dict[str, Any]:
        limits = self.limits
        how = {"max_batch": limits.max_batch, "capacity": limits.max_waiting, "worker": self._worker}
        wait = limits.batch_milliseconds / 1000.0 if limits.max_batch > 1 else 0.0
        return {**how, "wait_seconds": wait, "seen": lambda count: self.measures.batches.add(kind, count)}

    def _waiting(self) -> dict[str, float]:
        answers = {("classify" if task == "classifier" else "score"): len(one) for task, one in self._answers.items()}
        return {**answers, **{f"feed_{task}": len(one) for task, one in self._feeds.items()}}

    def _generated(self, why: str) -> None:
        self._generating -= 1
        self.measures.generations.add(why)

    def _check_served(self, task: Task) -> None:
        if task not in self.models:
            there = " and ".join(_WORDS[one] for one in self.models)
            raise RequestError(501, f"no {_WORDS[task]} is served here, only a {there}; name one: `elman serve MODEL`")

    @contextlib.asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self.limits.request_seconds):
                yield
        except TimeoutError:
            seconds = self.limits.request_seconds
            raise RequestError(504, f"there was no answer within {seconds:g} seconds; the server is busy") from None

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(min(_SWEEP_SECONDS, self.limits.stream_idle_seconds))
            self._sessions.expire()
