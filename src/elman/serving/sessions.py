"""Streams that the server keeps for its clients."""

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from elman.serving.request_error import RequestError


@dataclass(eq=False, slots=True)
class Session:
    """A stream between two requests.

    Attributes:
        id: What the client names it by; cannot be guessed.
        task: Of its model.
        stream: An `elman.Stream`, or what does as one.
        used: When it was last asked for.
        busy: Requests that use it or wait for it.
        turns: One request at a time feeds it, in the order of asking.
    """

    id: str
    task: str
    stream: Any
    used: float
    busy: int = 0
    turns: asyncio.Lock = field(default_factory=asyncio.Lock)


class Sessions:
    """At most so many streams, each for as long as it is used.

    Args:
        limit: Streams at a time.
        idle_seconds: How long one that nothing is asked of is kept.
        clock: Seconds.
        closed: Told why each one ended: deleted, idle or failed.
    """

    def __init__(
        self, *, limit: int, idle_seconds: float, clock: Callable[[], float], closed: Callable[[str], None]
    ) -> None:
        self._limit, self.idle_seconds, self._clock, self._closed = limit, idle_seconds, clock, closed
        self._sessions: dict[str, Session] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._sessions)

    def check_room(self) -> None:
        """Makes sure that one more can be opened.

        Raises:
            RequestError: 429, there are as many as there may be; says when the first of them can end for being idle.
        """
        self.expire()
        if len(self._sessions) < self._limit:
            return
        first = min(session.used for session in self._sessions.values())
        raise RequestError(
            429,
            f"there are {len(self._sessions)} streams, as many as there may be; delete one, or ask again later",
            retry_after=max(1, math.ceil(first + self.idle_seconds - self._clock())),
        )

    def open(self, stream: Any, *, task: str) -> Session:
        """Keeps a stream.

        Raises:
            RequestError: See `check_room`.
        """
        self.check_room()
        session = Session(secrets.token_urlsafe(16), task, stream, self._clock())
        self._sessions[session.id] = session
        return session

    @asynccontextmanager
    async def using(self, session_id: str) -> AsyncIterator[Session]:
        """A stream, for one request at a time; it does not end for being idle meanwhile.

        Raises:
            RequestError: 404, there is none of this name, or none any more.
        """
        session = self._get(session_id)
        session.busy += 1
        try:
            async with session.turns:
                self._get(session_id)  # who was before may have ended it
                yield session
        finally:
            session.busy -= 1
            session.used = self._clock()

    def close(self, session_id: str, *, why: str) -> None:
        """Ends a stream.

        Raises:
            RequestError: 404, there is none of this name.
        """
        self._get(session_id)
        del self._sessions[session_id]
        self._closed(why)

    def expire(self) -> None:
        """Ends those that have been idle for too long."""
        last = self._clock() - self.idle_seconds
        for session in [one for one in self._sessions.values() if one.used <= last and not one.busy]:
            del self._sessions[session.id]
            self._closed("idle")

    def _get(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None or (not session.busy and session.used <= self._clock() - self.idle_seconds):
            raise RequestError(
                404,
                "no such stream: it never was, was deleted, or nothing was asked of it for "
                f"{self.idle_seconds:g} seconds; begin a new one with POST /streams",
            )
        return session
