"""The process that serves: listens, and stops gently."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from elman.serving.gate import Gate

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Server(uvicorn.Server):
    """uvicorn, which on SIGTERM or SIGINT takes nothing more, answers what it has taken, and returns.

    uvicorn itself would then end the process by the signal; here the command ends with an exit code of its own. A
    second SIGINT ends it at once.

    Args:
        app: What answers.
        stop_seconds: How long what was taken may still take.
        listening: Called when the first request can come.
    """

    def __init__(self, app: Gate, *, stop_seconds: float, listening: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app, ws="none", lifespan="on", access_log=False, log_config=None, log_level="warning", server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=stop_seconds,  # type: ignore[arg-type]
        )  # fmt: skip
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listens, and says so."""
        await super().startup(sockets)
        self._listening()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stops on a signal inside the block, in the main thread; afterwards it has had its effect."""
        try:
            before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        except ValueError:  # not the main thread
            before = {}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(app: Gate, bound: socket.socket, *, stop_seconds: float, listening: Callable[[], None]) -> int:
    """Serves until it is asked to stop.

    Args:
        app: From `elman.serving.app.make_app`.
        bound: From `elman.serving.listening.bind`.
        stop_seconds: How long what was taken may still take.
        listening: Called when the first request can come.

    Returns:
        How many requests could not be answered in that time.
    """
    Server(app, stop_seconds=stop_seconds, listening=listening).run([bound])
    return app.cut
