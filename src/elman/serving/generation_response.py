"""The response to a generate request."""

import asyncio
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from elman.serving.generation import Generation

_GRACE_SECONDS = 2.0  # for a client that does not read, after the time is over


class GenerationResponse(Response):
    """Sends the events while they come, until the text ends, its time is over, or the client goes away.

    Args:
        generation: What is sent.
        ended: Called once with why it ended: done, time, failed or gone.
    """

    def __init__(self, generation: Generation, *, ended: Callable[[str], None]) -> None:
        super().__init__(media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._generation, self._ended = generation, ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends; whatever happens, `ended` is called."""
        sending = asyncio.create_task(self._send(send))
        gone = asyncio.create_task(_until_gone(receive))
        try:
            limit = self._generation.seconds + _GRACE_SECONDS
            await asyncio.wait({sending, gone}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (sending, gone):
                task.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)
            self._ended(self._generation.ended)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for data in self._generation.events():
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
