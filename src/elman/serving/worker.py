"""The one thread on which models compute."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Run(Protocol):
    """Calls a function on the thread."""

    async def __call__(self, function: Callable[P, R], /, *given: P.args, **named: P.kwargs) -> R:
        """What the function returns or raises."""


class Worker:
    """Lets functions compute one after the other, away from the event loop, which goes on taking requests.

    The compiled kernels bear one caller at a time. Whoever waits gets a turn in the order of asking: a text that is
    being generated asks anew for each few tokens, so that batches and other texts come in between.
    """

    def __init__(self) -> None:
        self._turns = asyncio.Lock()  # serves in the order of asking
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="elman-model")

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Run]:
        """A turn at the thread; what is to be computed can be chosen when it has come."""
        async with self._turns:
            yield self._call

    def close(self) -> None:
        """Ends the thread when it has done what it does."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _call(self, function: Callable[P, R], /, *given: P.args, **named: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*given, **named))
