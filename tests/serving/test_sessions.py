"""Streams that a server keeps: how many, for how long, and one piece at a time."""

import asyncio

import pytest

from elman.serving.request_error import RequestError
from elman.serving.sessions import Sessions


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def closed() -> list[str]:
    return []


@pytest.fixture
def sessions(clock: Clock, closed: list[str]) -> Sessions:
    return Sessions(limit=2, idle_seconds=10.0, clock=clock, closed=closed.append)


async def use(sessions: Sessions, session_id: str) -> object:
    async with sessions.using(session_id) as session:
        return session.stream


def test_a_stream_is_found_by_its_id_and_no_other_one(sessions: Sessions) -> None:
    first, second = sessions.open("one", task="classifier"), sessions.open("two", task="language_model")
    assert first.id != second.id
    assert len(first.id) > 20
    assert asyncio.run(use(sessions, first.id)) == "one"
    with pytest.raises(RequestError, match="no such stream") as refused:
        asyncio.run(use(sessions, "nobody"))
    assert refused.value.status == 404


def test_more_than_the_limit_are_refused_until_the_first_can_have_ended(sessions: Sessions, clock: Clock) -> None:
    first = sessions.open("one", task="classifier")
    clock.now += 3.5
    sessions.open("two", task="classifier")
    with pytest.raises(RequestError, match="there are 2 streams") as refused:
        sessions.open("three", task="classifier")
    assert (refused.value.status, refused.value.retry_after) == (429, 7)
    sessions.close(first.id, why="deleted")
    sessions.open("three", task="classifier")


def test_one_that_is_idle_for_too_long_ends_and_use_keeps_it(
    sessions: Sessions, clock: Clock, closed: list[str]
) -> None:
    first, second = sessions.open("one", task="classifier"), sessions.open("two", task="classifier")
    clock.now += 9.0
    asyncio.run(use(sessions, second.id))
    clock.now += 1.0
    with pytest.raises(RequestError, match="nothing was asked of it for 10 seconds"):
        asyncio.run(use(sessions, first.id))  # before anyone has looked for idle ones
    sessions.expire()
    assert closed == ["idle"]
    assert len(sessions) == 1
    assert asyncio.run(use(sessions, second.id)) == "two"


def test_one_that_is_being_fed_does_not_end_for_being_idle(sessions: Sessions, clock: Clock) -> None:
    async def test() -> None:
        session = sessions.open("one", task="classifier")
        async with sessions.using(session.id):
            clock.now += 100.0
            sessions.expire()
        assert await use(sessions, session.id) == "one"

    asyncio.run(test())


def test_two_requests_to_one_stream_come_one_after_the_other(sessions: Sessions) -> None:
    order: list[str] = []

    async def feed(session_id: str, name: str) -> None:
        async with sessions.using(session_id):
            order.append(f"{name} begins")
            await asyncio.sleep(0.001)
            order.append(f"{name} ends")

    async def test() -> None:
        session = sessions.open("one", task="classifier")
        await asyncio.gather(*(feed(session.id, name) for name in "abc"))

    asyncio.run(test())
    assert order == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]


def test_who_waits_for_a_stream_that_is_deleted_is_told(sessions: Sessions, closed: list[str]) -> None:
    async def test() -> None:
        session = sessions.open("one", task="classifier")
        async with sessions.using(session.id):
            waits = asyncio.create_task(use(sessions, session.id))
            await asyncio.sleep(0)
            sessions.close(session.id, why="deleted")
        with pytest.raises(RequestError, match="no such stream"):
            await waits
        with pytest.raises(RequestError, match="no such stream"):
            sessions.close(session.id, why="deleted")

    asyncio.run(test())
    assert closed == ["deleted"]
