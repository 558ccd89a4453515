"""What every request passes before it is looked at, and what is counted of it."""

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from elman.serving.limits import Limits
from elman.serving.measures import Measures
from elman.serving.request_error import RequestError

_DRAINED_BYTES = 16 << 20  # of a body that is too large: a client that still writes would not see the answer
_CHANGING = ("POST", "DELETE")


class Gate:
    """Reads a body whole, up to its limit and within its time; refuses what other sites' pages send; counts.

    Args:
        app: What answers.
        limits: How much is taken.
        measures: Where it is counted.
        hosts: Names by which the server may be called; None: any. A page of another site whose name was made to mean
            this machine calls it by that name.
        routes: Paths that are counted by themselves where a request does not get as far as its route.

    Attributes:
        cut: Requests that were not answered, since the server had to stop.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        measures: Measures,
        hosts: Collection[str] | None,
        routes: Collection[str],
    ) -> None:
        self._app, self._limits, self._measures = app, limits, measures
        self._hosts, self._routes = hosts, routes
        self._in_work = 0
        self.cut = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), "none"

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        changing = scope["method"] in _CHANGING
        self._in_work += changing
        try:
            await self._pass(scope, receive, noting)
        except RequestError as refusal:
            await refusal.response()(scope, receive, noting)
        except asyncio.CancelledError:
            self.cut += 1
            raise
        finally:
            self._in_work -= changing
            route = self._route(scope)
            method = scope["method"] if scope["method"] in ("GET", "POST", "DELETE") else "other"
            self._measures.requests.add(route, method, status)
            self._measures.seconds.add(route, time.perf_counter() - started)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._check_origin(headers)
        if scope["method"] in _CHANGING:
            if self._in_work > self._limits.max_requests:
                message = f"{self._limits.max_requests} requests are in work, as many as may be; ask again later"
                raise RequestError(429, message, retry_after=1, close=True)
            receive = _replayed(await self._body(headers, receive), receive)
        await self._app(scope, receive, send)

    def _check_origin(self, headers: Headers) -> None:
        host = headers.get("host", "")
        if self._hosts is not None and _without_port(host) not in self._hosts:
            names = ", ".join(sorted(self._hosts))
            raise RequestError(403, f"Host: this server is called by {names} only", close=True)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise RequestError(403, "Origin: pages of other sites may not ask this server", close=True)

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        limit = self._limits.max_body_bytes
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                body, size = await _read(receive, keep=limit, most=max(limit, _DRAINED_BYTES))
        except TimeoutError:
            seconds = self._limits.request_seconds
            raise RequestError(408, f"the body did not come within {seconds:g} seconds", close=True) from None
        if size > limit:
            raise RequestError(413, f"a body of at most {limit} bytes is allowed, but a larger one came", close=True)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if body and kind != "application/json":
            raise RequestError(415, "Content-Type: application/json is needed")
        return body

    def _route(self, scope: Scope) -> str:
        path = str(getattr(scope.get("route"), "path", scope["path"]))
        return path if path in self._routes else "other"


async def _read(receive: Receive, *, keep: int, most: int) -> tuple[bytes, int]:
    """The first bytes of a body, and how many it has; no more than about `most` are read."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestError(400, "the client went away before its request was whole", close=True)
        part = message.get("body", b"")
        size += len(part)
        if size <= keep:
            parts.append(part)
        if not message.get("more_body", False) or size > most:
            return b"".join(parts), size


def _replayed(body: bytes, receive: Receive) -> Callable[[], Any]:
    """Gives the body once, and then what the connection gives: that the client went away."""
    left = [body]

    async def again() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return again


def _without_port(host: str) -> str:
    name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    return name.strip("[]").lower()
