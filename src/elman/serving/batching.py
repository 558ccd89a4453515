"""Micro-batching: what is asked within a few milliseconds is answered together."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from elman.serving.request_error import RequestError
from elman.serving.worker import Worker

Ask = TypeVar("Ask")
Answer = TypeVar("Answer")

_MAX_SIZE = 100_000  # characters of a batch, so that it never takes long; a single larger text makes one of its own
_MAX_RETRY = 60  # seconds


@dataclass(eq=False, slots=True)
class _Waiting(Generic[Ask, Answer]):
    ask: Ask
    size: int
    since: float
    answer: "asyncio.Future[Answer]"


class Batcher(Generic[Ask, Answer]):
    """Puts texts of different requests into one batch.

    The first text of a batch waits for others until `wait_seconds` are over or the batch is full; while the thread is
    busy, more come. Answers go to whoever asked, and one that nobody waits for any more is not computed.

    Args:
        answer: Answers a batch, in order; called on the worker's thread.
        worker: The thread.
        max_batch: Texts of a batch.
        wait_seconds: How long the first one waits.
        capacity: Texts that may wait; more are refused.
        name: What is waited for, for messages.
        seen: Told how many texts each batch has.
        alone: Whether the texts of a batch that failed are answered again one by one, so that one of them spoils no
            other answer. Not where asking changes something.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Ask]], Sequence[Answer]],
        *,
        worker: Worker,
        max_batch: int,
        wait_seconds: float,
        capacity: int,
        name: str,
        seen: Callable[[int], None],
        alone: bool,
    ) -> None:
        self._answer, self._worker, self._name, self._seen, self._alone = answer, worker, name, seen, alone
        self._max_batch, self._wait, self._capacity = max_batch, wait_seconds, capacity
        self._waiting: deque[_Waiting[Ask, Answer]] = deque()
        self._came = asyncio.Event()
        self._seconds_each = 0.0  # a text, of late

    def __len__(self) -> int:
        """Texts that wait."""
        return len(self._waiting)

    async def ask(self, asks: Sequence[Ask], sizes: Sequence[int]) -> list[Answer]:
        """The answers, in order.

        Args:
            asks: Of one request.
            sizes: Characters of each.

        Raises:
            RequestError: 429, too many texts wait; none of these is taken.
            Exception: What `answer` raised.
        """
        if len(self._waiting) + len(asks) > self._capacity:
            raise RequestError(
                429,
                f"{self._name}: {len(self._waiting)} texts wait and at most {self._capacity} may, but came {len(asks)} "
                "more; ask again later, or with fewer texts",
                retry_after=min(_MAX_RETRY, max(1, math.ceil(len(self._waiting) * self._seconds_each))),
            )
        loop = asyncio.get_running_loop()
        entries = [
            _Waiting[Ask, Answer](ask, size, loop.time(), loop.create_future())
            for ask, size in zip(asks, sizes, strict=True)
        ]
        self._waiting.extend(entries)
        self._came.set()
        try:
            return [await entry.answer for entry in entries]
        finally:
            self._forget(entries)

    async def work(self) -> None:
        """Answers, until it is cancelled."""
        while True:
            await self._came.wait()
            await self._let_others_come()
            async with self._worker.turn() as run:
                if batch := self._take():
                    await self._settle(batch, run)

    async def _let_others_come(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting and len(self._waiting) < self._max_batch:
            left = self._waiting[0].since + self._wait - loop.time()
            if left <= 0:
                return
            self._came.clear()
            try:
                async with asyncio.timeout(left):
                    await self._came.wait()
            except TimeoutError:
                return

    def _take(self) -> list[_Waiting[Ask, Answer]]:
        batch: list[_Waiting[Ask, Answer]] = []
        size = 0
        while self._waiting and len(batch) < self._max_batch:
            size += self._waiting[0].size
            if batch and size > _MAX_SIZE:
                break
            batch.append(self._waiting.popleft())
        if self._waiting:
            self._came.set()
        else:
            self._came.clear()
        return batch

    async def _settle(self, batch: list[_Waiting[Ask, Answer]], run: Callable[..., object]) -> None:
        self._seen(len(batch))
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            answers = await self._run(run, batch)
        except Exception as error:
            if len(batch) > 1 and self._alone:
                for entry in batch:
                    await self._settle([entry], run)
                return
            for entry in batch:
                if not entry.answer.done():
                    entry.answer.set_exception(error)
            return
        for entry, answer in zip(batch, answers, strict=True):
            if not entry.answer.done():
                entry.answer.set_result(answer)
        self._seconds_each = 0.8 * self._seconds_each + 0.2 * (loop.time() - started) / len(batch)

    async def _run(self, run: Callable[..., object], batch: list[_Waiting[Ask, Answer]]) -> Sequence[Answer]:
        answers = await run(self._answer, [entry.ask for entry in batch])  # type: ignore[misc]
        if len(answers) != len(batch):
            raise RuntimeError(f"{len(answers)} answers for a batch of {len(batch)}")
        return answers  # type: ignore[no-any-return]

    def _forget(self, entries: list[_Waiting[Ask, Answer]]) -> None:
        """Nobody waits for these any more."""
        given_up = False
        for entry in entries:
            if not entry.answer.done():
                given_up = True
                entry.answer.cancel()
            elif not entry.answer.cancelled():
                entry.answer.exception()  # else it would be reported as never seen
        if given_up:
            self._waiting = deque(entry for entry in self._waiting if not entry.answer.cancelled())
