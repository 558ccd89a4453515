"""Resident memory and speed of `elman.Stream` over a million tokens: python -m benchmarks.stream.

One stream reads a million tokens in pieces of 400 characters; then a thousand streams read side by side, a
piece each at a time. A language model of the default size with fresh weights.
"""

import itertools
import os
import tempfile
import time
from pathlib import Path

import elman
from benchmarks.default_model import text, write_default_model
from elman.artifacts import write_json

TOKENS = 1_000_000
PIECE = 400  # characters
STREAMS = 1000
WARM = 50_000  # tokens before the first reading of memory


def resident_megabytes() -> float:
    """Of this process, now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Writes benchmarks/stream.json."""
    with tempfile.TemporaryDirectory() as folder:
        model = elman.load(write_default_model(Path(folder), cell="lstm"))
    words = text(20_000, seed=2) + " "
    pieces = [words[start : start + PIECE] for start in range(0, len(words), PIECE)]
    rows = [_one(model, pieces), _many(model, pieces)]
    size = {"cell": "lstm", "units": model.model.spec.units, "vocab_size": model.model.spec.vocab_size}
    facts = {"piece_characters": PIECE, "cores": os.cpu_count(), **size}
    write_json(Path(__file__).parent / "stream.json", {"version": 1, **facts, "rows": rows})


def _one(model, pieces: list[str]) -> dict[str, float]:
    stream = elman.Stream(model)
    given = itertools.cycle(pieces)
    while stream.num_tokens < WARM:
        stream.feed(next(given))
    before, started, first = resident_megabytes(), time.perf_counter(), stream.num_tokens
    highest = before
    while stream.num_tokens < WARM + TOKENS:
        for _ in range(500):
            stream.feed(next(given))
        highest = max(highest, resident_megabytes())
    return _row(1, stream.num_tokens - first, started, before, highest)


def _many(model, pieces: list[str]) -> dict[str, float]:
    streams = [elman.Stream(model) for _ in range(STREAMS)]
    read = 0

    def round_of(number: int) -> int:
        texts = [pieces[(number + place) % len(pieces)] for place in range(STREAMS)]
        return sum(map(len, elman.Stream.feed_many(streams, texts)))

    for number in range(3):
        round_of(number)
    before, started = resident_megabytes(), time.perf_counter()
    highest = before
    for number in itertools.count(3):
        read += round_of(number)
        highest = max(highest, resident_megabytes())
        if read >= TOKENS:
            break
    return _row(STREAMS, read, started, before, highest)


def _row(streams: int, tokens: int, started: float, before: float, highest: float) -> dict[str, float]:
    seconds = time.perf_counter() - started
    row = {
        "streams": streams,
        "tokens": tokens,
        "seconds": round(seconds, 1),
        "tokens_per_second": round(tokens / seconds),
        "resident_mb_before": round(before, 1),
        "resident_mb_highest": round(highest, 1),
        "resident_mb_after": round(resident_megabytes(), 1),
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
