"""What a server counts and measures about itself."""

import os
from collections.abc import Callable
from pathlib import Path

from elman.serving.metrics_text import Counter, Gauge, Histogram, metrics_text

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Measures:
    """The metrics of a server; docs/serve.md says what each means.

    Args:
        waiting: Texts that wait, by the kind of answer.
        streams: Stream sessions.
        generations: Requests that are generating.
    """

    def __init__(
        self, *, waiting: Callable[[], dict[str, float]], streams: Callable[[], int], generations: Callable[[], int]
    ) -> None:
        self.requests = Counter("elman_requests_total", "Requests that were answered.", "route", "method", "status")
        self.seconds = Histogram(
            "elman_request_seconds", "From the first byte of a request to the last of its answer.",
            bounds=_SECONDS, label="route",
        )  # fmt: skip
        self.batches = Histogram("elman_batch_texts", "Texts that were answered together.", bounds=_TEXTS, label="kind")
        self.streams_closed = Counter("elman_streams_closed_total", "Stream sessions that ended.", "why")
        self.generations = Counter("elman_generations_total", "Generate requests that ended.", "why")
        self.tokens = Counter("elman_generated_tokens_total", "Tokens that texts were gone on with.")
        self._gauges = (
            Gauge("elman_waiting_texts", "Texts that wait for a batch.", waiting, label="kind"),
            Gauge("elman_streams", "Stream sessions.", lambda: {"": streams()}),
            Gauge("elman_generations", "Requests that are generating.", lambda: {"": generations()}),
            Gauge("elman_resident_memory_bytes", "Of the server's process.", resident_bytes),
        )

    def text(self) -> str:
        """All of them, for Prometheus."""
        counted = (self.requests, self.seconds, self.batches, self.streams_closed, self.generations, self.tokens)
        return metrics_text([*counted, *self._gauges])


def resident_bytes() -> dict[str, float]:
    """Memory of this process; nothing where the system does not tell it in Linux's way."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return {}
    return {"": pages * os.sysconf("SC_PAGE_SIZE")}
