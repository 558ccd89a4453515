"""A text that is gone on with for a client, in server-sent events."""

import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from elman.serving.served import GeneratedPiece
from elman.serving.worker import Worker

_LOG = logging.getLogger("elman.serving")
_TURN_SECONDS = 0.004  # of computing before others get their turn


def event(name: str, values: dict[str, Any]) -> bytes:
    """One server-sent event; JSON holds no line end."""
    return f"event: {name}\ndata: {json.dumps(values, ensure_ascii=False, allow_nan=False)}\n\n".encode()


class Generation:
    """What comes of one generate request, as events.

    `prompt` first, then `token` with the text that became certain, `end` for each text with why it ended, and `done`;
    or `error` and nothing after it.

    Args:
        prompt: As it was cleaned.
        pieces: What follows, computed as it is asked for.
        worker: The thread.
        seconds: How long it may take.
        counted: Told how many tokens came.
    """

    def __init__(
        self,
        prompt: str,
        pieces: Iterator[GeneratedPiece],
        *,
        worker: Worker,
        seconds: float,
        counted: Callable[[int], None],
    ) -> None:
        self._prompt, self._pieces, self._worker, self._counted = prompt, pieces, worker, counted
        self.seconds = seconds
        self.ended = "gone"  # why; until more is known, the client went away

    async def events(self) -> AsyncIterator[bytes]:
        """Events, those of one turn at the thread together."""
        yield event("prompt", {"text": self._prompt})
        until = time.monotonic() + self.seconds
        try:
            while pieces := await self._some():
                self._counted(sum(piece.token_id is not None for piece in pieces))
                yield b"".join(map(_event_of, pieces))
                if time.monotonic() > until:
                    self.ended = "time"
                    yield event("error", {"error": f"stopped after {self.seconds:g} seconds"})
                    return
        except Exception:
            _LOG.exception("a text could not be gone on with")
            self.ended = "failed"
            yield event("error", {"error": "the model failed; the server's log says how"})
            return
        self.ended = "done"
        yield event("done", {})

    async def _some(self) -> list[GeneratedPiece]:
        async with self._worker.turn() as run:
            return await run(_pieces_of_a_turn, self._pieces)


def _pieces_of_a_turn(pieces: Iterator[GeneratedPiece]) -> list[GeneratedPiece]:
    """One or more, none where there are no more."""
    until = time.monotonic() + _TURN_SECONDS
    found: list[GeneratedPiece] = []
    for piece in pieces:
        found.append(piece)
        if time.monotonic() >= until:
            break
    return found


def _event_of(piece: GeneratedPiece) -> bytes:
    values = {"sample": piece.sample, "text": piece.text}
    return event("token", values) if piece.end is None else event("end", {**values, "end": piece.end})
