"""Texts of different requests in one batch: who waits, who is refused, and that each gets its own answer."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from elman.serving.batching import Batcher
from elman.serving.request_error import RequestError
from elman.serving.worker import Worker


class Lengths:
    """Answers each text with its length, and notes the batches."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.going = threading.Event()
        self.going.set()

    def __call__(self, texts: Sequence[str]) -> list[int]:
        self.batches.append(list(texts))
        self.going.wait(10)
        if "bad" in texts:
            raise ValueError("a bad text")
        return [len(text) for text in texts]


def run(test: Callable[..., Awaitable[None]], lengths: Lengths, **changes: Any) -> None:
    plain = {"max_batch": 4, "wait_seconds": 0.03, "capacity": 6, "name": "classify", "alone": True, "seen": len_of}

    async def inside() -> None:
        worker = Worker()
        batcher: Batcher[str, int] = Batcher(lengths, worker=worker, **{**plain, **changes})
        work = asyncio.create_task(batcher.work())
        try:
            await asyncio.wait_for(test(batcher, worker), 10)
        finally:
            lengths.going.set()
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
            worker.close()

    asyncio.run(inside())


def len_of(count: int) -> None:
    assert count > 0


async def ask(batcher: Batcher[str, int], *texts: str) -> list[int]:
    return await batcher.ask(texts, [len(text) for text in texts])


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not true():
            await asyncio.sleep(0.001)


def test_what_is_asked_within_the_wait_is_one_batch_and_each_gets_its_own_answer() -> None:
    lengths, sizes = Lengths(), []

    async def test(batcher: Batcher[str, int], _: Worker) -> None:
        found = await asyncio.gather(ask(batcher, "a", "bcd"), ask(batcher, "ef"), ask(batcher, "ghijk"))
        assert found == [[1, 3], [2], [5]]

    run(test, lengths, wait_seconds=0.2, seen=sizes.append)
    assert lengths.batches == [["a", "bcd", "ef", "ghijk"]]
    assert sizes == [4]


def test_a_full_batch_does_not_wait_and_a_request_may_be_spread_over_batches() -> None:
    lengths = Lengths()

    async def test(batcher: Batcher[str, int], _: Worker) -> None:
        assert await ask(batcher, "a", "bb", "ccc", "dddd", "eeeee", "ffffff") == [1, 2, 3, 4, 5, 6]

    run(test, lengths, max_batch=3, wait_seconds=600.0)
    assert [len(batch) for batch in lengths.batches] == [3, 3]


def test_what_comes_while_a_batch_is_computed_is_the_next_one() -> None:
    lengths = Lengths()

    async def test(batcher: Batcher[str, int], _: Worker) -> None:
        lengths.going.clear()
        first = asyncio.create_task(ask(batcher, "a"))
        await until(lambda: len(lengths.batches) == 1)
        others = [asyncio.create_task(ask(batcher, "b" * number)) for number in (2, 3, 4)]
        await asyncio.sleep(0.02)
        lengths.going.set()
        assert await asyncio.gather(first, *others) == [[1], [2], [3], [4]]

    run(test, lengths, wait_seconds=0.0)
    assert [len(batch) for batch in lengths.batches] == [1, 3]


def test_very_long_texts_are_not_put_together() -> None:
    lengths = Lengths()

    async def test(batcher: Batcher[str, int], _: Worker) -> None:
        found = await batcher.ask(["a", "b", "c"], [150_000, 60_000, 39_000])
        assert found == [1, 1, 1]

    run(test, lengths)
    assert lengths.batches == [["a"], ["b", "c"]]


def test_too_many_are_refused_as_a_whole_and_told_when_to_come_back() -> None:
    lengths = Lengths()

    async def test(batcher: Batcher[str, int], _: Worker) -> None:
        lengths.going.clear()
        first = asyncio.create_task(ask(batcher, "a"))
        await until(lambda: len(lengths.batches) == 1)
        waiting = asyncio.create_task(ask(batcher, "b", "c", "d", "e"))
        await until(lambda: len(batcher) == 4)
        with pytest.raises(RequestError, match=r"classify: 4 texts wait and at most 6 may, but came 3 more") as refused:
            await ask(batcher, "f", "g", "h")
        assert (refused.value.status, refused.value.retry_after) == (429, 1)
        fits = asyncio.create_task(ask(batcher, "f", "gg"))
        lengths.going.set()
        assert await asyncio.gather(first, waiting, fits) == [[1], [1, 1, 1, 1], [1, 2]]

    run(test, lengths)


def test_one_that_fails_spoils_no_other_answer() -> None:
    lengths = Lengths()

    async def test(batcher: Batcher[str, int], _: Worker) -> None:
        found = await asyncio.gather(ask(batcher, "aa"), ask(batcher, "bad"), ask(batcher, "c"), return_exceptions=True)
        assert (found[0], found[2]) == ([2], [1])
        assert isinstance(found[1], ValueError)

    run(test, lengths)
    assert lengths.batches == [["aa", "bad", "c"], ["aa"], ["bad"], ["c"]]


def test_where_asking_changes_something_a_failed_batch_is_not_asked_again() -> None:
    lengths = Lengths()

    async def test(batcher: Batcher[str, int], _: Worker) -> None:
        found = await asyncio.gather(ask(batcher, "aa"), ask(batcher, "bad"), return_exceptions=True)
        assert [type(one) for one in found] == [ValueError, ValueError]
        assert await ask(batcher, "dd") == [2]  # it goes on

    run(test, lengths, alone=False)
    assert lengths.batches == [["aa", "bad"], ["dd"]]


def test_what_nobody_waits_for_any_more_is_not_computed() -> None:
    lengths = Lengths()

    async def test(batcher: Batcher[str, int], _: Worker) -> None:
        lengths.going.clear()
        first = asyncio.create_task(ask(batcher, "a"))
        await until(lambda: len(lengths.batches) == 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await ask(batcher, "gone", "gone too")
        assert len(batcher) == 0
        first.cancel()  # its batch is computed already
        stays = asyncio.create_task(ask(batcher, "bb"))
        lengths.going.set()
        assert await stays == [2]

    run(test, lengths)
    assert lengths.batches == [["a"], ["bb"]]


def test_the_thread_is_shared_in_the_order_of_asking() -> None:
    order: list[str] = []

    async def test(batcher: Batcher[str, int], worker: Worker) -> None:
        async def generate(name: str, steps: int) -> None:
            for number in range(steps):
                async with worker.turn() as computing:
                    await computing(order.append, f"{name}{number}")

        async def classify() -> None:
            await ask(batcher, "text")
            order.append("answer")

        await asyncio.gather(generate("a", 3), generate("b", 3), classify())

    run(test, Lengths(), wait_seconds=0.0)
    assert [one for one in order if one != "answer"] == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert order.index("answer") < 4  # a batch does not wait for the end of what is being generated
