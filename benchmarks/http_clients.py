"""Clients that ask one server on this machine over connections that stay open, each again as soon as it is answered."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

TIMEOUT = 60.0  # seconds without an answer: lost


@dataclass
class Tally:
    """What came of all requests of a load.

    Attributes:
        seconds: Of each answered request.
        sent: Requests.
        errors: Answers with another status than 200.
        wrong: Answers that are not those of their own text.
    """

    seconds: list[float] = field(default_factory=list)
    sent: int = 0
    errors: int = 0
    wrong: int = 0

    @property
    def lost(self) -> int:
        """Requests without an answer."""
        return self.sent - len(self.seconds)


class Connection:
    """One connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, values: Any = None) -> tuple[int, bytes]:
        """Status and body."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        body = b"" if values is None else json.dumps(values).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        async with asyncio.timeout(TIMEOUT):
            return await self._answer()

    async def _answer(self) -> tuple[int, bytes]:
        assert self._reader is not None
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = int(head.split(" ", 2)[1])
        if "transfer-encoding: chunked" in head:
            body = b""
            while size := int(await self._reader.readline(), 16):
                body += await self._reader.readexactly(size)
                await self._reader.readexactly(2)
            await self._reader.readexactly(2)
            return status, body
        length = head.partition("content-length: ")[2].partition("\r")[0]
        return status, await self._reader.readexactly(int(length or 0))

    async def close(self) -> None:
        """Ends it."""
        if self._writer is not None:
            self._writer.close()
            await self._writer.wait_closed()


async def load(
    port: int,
    texts: Sequence[str],
    *,
    clients: int,
    seconds: float,
    right: Callable[[int, bytes], bool],
    most: int = 10_000_000,
) -> Tally:
    """Classifies texts for some seconds, each client one after the other, and holds each answer against its text.

    Args:
        port: Of the server.
        texts: Asked in turns, each client from another one on.
        clients: How many ask at the same time.
        seconds: After which no new request is sent.
        right: Whether a body is the answer to a text, by its number.
        most: Requests, at most.
    """
    tally = Tally()
    until = time.perf_counter() + seconds

    async def client(number: int) -> None:
        connection = Connection(port)
        place = number * len(texts) // clients
        while time.perf_counter() < until and tally.sent < most:
            tally.sent += 1
            started = time.perf_counter()
            status, body = await connection.ask("POST", "/classify", {"texts": [texts[place % len(texts)]]})
            tally.seconds.append(time.perf_counter() - started)
            tally.errors += status != 200
            tally.wrong += status == 200 and not right(place % len(texts), body)
            place += 1
        await connection.close()

    await _all([client(number) for number in range(clients)])
    return tally


async def use_language_model(port: int, texts: Sequence[str], *, seconds: float) -> Tally:
    """Generates with ever other options, and feeds streams that are begun and deleted, for some seconds."""
    tally = Tally()
    until = time.perf_counter() + seconds

    async def asked(connection: Connection, method: str, path: str, values: Any, good: int) -> bytes:
        tally.sent += 1
        started = time.perf_counter()
        status, body = await connection.ask(method, path, values)
        tally.seconds.append(time.perf_counter() - started)
        tally.errors += status != good
        return body

    async def generating() -> None:
        connection = Connection(port)
        while time.perf_counter() < until:
            options = {"temperature": 0.5 + tally.sent % 1000 / 1000, "seed": tally.sent, "max_tokens": 50}
            body = await asked(connection, "POST", "/generate", {"prompt": texts[0][:40], **options}, 200)
            tally.wrong += not body.endswith(b"event: done\ndata: {}\n\n")
        await connection.close()

    async def streaming() -> None:
        connection = Connection(port)
        while time.perf_counter() < until:
            begun = json.loads(await asked(connection, "POST", "/streams", {"task": "language_model"}, 201))
            for text in texts[:20]:
                await asked(connection, "POST", f"/streams/{begun['id']}/feed", {"text": text}, 200)
            await asked(connection, "POST", f"/streams/{begun['id']}/finish", None, 200)
            await asked(connection, "DELETE", f"/streams/{begun['id']}", None, 204)
        await connection.close()

    await _all([generating(), streaming()])
    return tally


async def _all(clients: Sequence[Awaitable[None]]) -> None:
    """A client whose connection broke has lost a request, and the others go on."""
    for failed in await asyncio.gather(*clients, return_exceptions=True):
        if isinstance(failed, BaseException) and not isinstance(failed, OSError | EOFError | TimeoutError):
            raise failed
