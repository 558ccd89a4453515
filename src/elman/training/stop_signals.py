"""Being asked to stop: a step that has begun is finished and saved before the process ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class StopSignals:
    """Notes SIGTERM, SIGHUP and Ctrl-C inside its block instead of letting them interrupt a step half way.

    Whoever handled the signal before gets it when `obey` is called; where nobody did, the process exits with 128 plus
    the signal's number, 143 for SIGTERM. A second signal is passed on at once. A signal that is ignored (`nohup`) stays
    ignored. Outside the main thread, where Python allows no handlers, nothing is changed.

    Attributes:
        asked: The signal that came, or None.
    """

    def __init__(self) -> None:
        self.asked: int | None = None
        self._at_once = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                handler = signal.getsignal(number)
                if handler is signal.SIG_DFL or callable(handler):
                    self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def obey(self) -> None:
        """Does what was asked, if anything was."""
        if self.asked is not None:
            self._pass_on(self.asked)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """A part that may be interrupted anywhere, since it changes nothing that is saved."""
        self.obey()
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def _note(self, number: int, _frame: FrameType | None) -> None:
        again = self.asked is not None
        self.asked = number
        if again or self._at_once:
            self._pass_on(number)

    def _pass_on(self, number: int) -> None:
        previous = self._previous[number]
        if not callable(previous):
            raise SystemExit(128 + number)
        previous(number, None)
        self.asked = None  # whoever handles it has decided that work goes on
