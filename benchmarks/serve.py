"""Load test of `elman serve`: python -m benchmarks.serve --model models/classifier/gru --minutes 10.

Clients on this machine classify texts with 1, 8 and 64 requests at a time, against a server with micro-batching and
one that answers each text by itself, in turns. Every answer is compared with the one that its text got alone. Then 8
clients go on for some minutes, and the server's memory is read; with a language model too, others generate and feed
streams meanwhile. Clients and server share the cores.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from benchmarks.http_clients import Connection, Tally, load, use_language_model
from elman.artifacts import write_json

CLIENTS = (1, 8, 64)
TEXTS = 500
TURNS = 3  # of each server at each number of clients
MODES = {"micro-batching": (), "each text by itself": ("--max-batch", "1")}


class Running(NamedTuple):
    """A server.

    Attributes:
        port: Where it listens.
        process: Its number.
    """

    port: int
    process: int

    def resident_megabytes(self) -> float:
        """Memory that it has, now."""
        pages = int(Path(f"/proc/{self.process}/statm").read_text().split()[1])
        return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def main() -> None:
    """Writes benchmarks/serve.json, or what --out says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", help="a classifier's folder, and a language model's if you like")
    parser.add_argument("--minutes", type=float, default=10.0, help="for which memory is watched")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each load")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "serve.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="elman-serve-") as folder:
        named = arguments.model or [_fallback(Path(folder))]
        texts = _texts(Path(named[0]))
        rows, memory = asyncio.run(_measure(named, texts, seconds=arguments.seconds, minutes=arguments.minutes))
    words = [len(one.split()) for one in texts]
    facts = {"models": ["/".join(Path(one).parts[-2:]) for one in named] if arguments.model else "fresh weights",
             "texts": len(texts), "words_median": int(np.median(words)), "words_most": max(words)}  # fmt: skip
    result = {"version": 1, "cores": os.cpu_count(), **facts, "seconds_each": arguments.seconds * TURNS}
    write_json(arguments.out, {**result, "rows": rows, "memory": memory})
    if any(row["errors"] or row["wrong"] or row["lost"] for row in [*rows, memory]):
        sys.exit("requests failed, were lost or got another text's answer")


async def _measure(
    named: Sequence[str], texts: Sequence[str], *, seconds: float, minutes: float
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    with _served(named, ()) as batched, _served(named, MODES["each text by itself"]) as single:
        servers = dict(zip(MODES, (batched, single), strict=True))
        started_with = batched.resident_megabytes()
        expected = {mode: await _alone(server, texts) for mode, server in servers.items()}
        rows = []
        for clients in CLIENTS:
            tallies: dict[str, list[Tally]] = {mode: [] for mode in MODES}
            for _ in range(TURNS):
                for mode, server in servers.items():
                    right = _compared(expected[mode])
                    tallies[mode].append(await load(server.port, texts, clients=clients, seconds=seconds, right=right))
            for mode, parts in tallies.items():
                rows.append({"server": mode, "clients": clients, **_summary(parts, seconds)})
                print(json.dumps(rows[-1]), flush=True)
        right = _compared(expected["micro-batching"])
        memory = {"at_start_megabytes": started_with, **await _memory(batched, texts, right, 60.0 * minutes)}
        print(json.dumps(memory), flush=True)
    return rows, memory


async def _alone(server: Running, texts: Sequence[str]) -> list[np.ndarray]:
    """The probabilities of each text, asked for when nothing else is."""
    connection = Connection(server.port)
    found = [await connection.ask("POST", "/classify", {"texts": [one]}) for one in texts]
    await connection.close()
    return [_probabilities(body) for _, body in found]


def _compared(expected: Sequence[np.ndarray]) -> Any:
    return lambda place, body: bool(np.allclose(_probabilities(body), expected[place], rtol=0, atol=1e-6))


def _probabilities(body: bytes) -> np.ndarray:
    (found,) = json.loads(body)["classifications"]
    return np.array(list(found["probabilities"].values()))


def _summary(parts: Sequence[Tally], seconds: float) -> dict[str, Any]:
    took = np.concatenate([part.seconds for part in parts])
    counts = {name: sum(getattr(part, name) for part in parts) for name in ("sent", "errors", "wrong", "lost")}
    p50, p99 = np.percentile(1000 * took, [50, 99])
    each = [round(len(part.seconds) / seconds, 1) for part in parts]
    speed = {"requests_per_second": float(np.median(each)), "requests_per_second_each": each}
    return {**counts, **speed, "p50_ms": round(float(p50), 2), "p99_ms": round(float(p99), 2)}


async def _memory(server: Running, texts: Sequence[str], right: Any, seconds: float) -> dict[str, Any]:
    """Memory under load, after a tenth of the time and at its end, and the highest between."""
    _, health = await Connection(server.port).ask("GET", "/health")
    both = "language_model" in json.loads(health)["models"]
    loads = [load(server.port, texts, clients=8, seconds=seconds, right=right)]
    loads += [use_language_model(server.port, texts, seconds=seconds)] if both else []
    working = asyncio.gather(*loads)
    await asyncio.sleep(seconds / 10)
    warm = highest = server.resident_megabytes()
    while not working.done():
        await asyncio.wait([working], timeout=1.0)
        highest = max(highest, server.resident_megabytes())
    tallies = await working
    counts = {name: sum(getattr(one, name) for one in tallies) for name in ("sent", "errors", "wrong", "lost")}
    found = {"warm_megabytes": warm, "highest_megabytes": highest, "at_end_megabytes": server.resident_megabytes()}
    return {"minutes": seconds / 60, "generating_and_streaming": both, **found, **counts}


@contextmanager
def _served(named: Sequence[str], options: Sequence[str]) -> Iterator[Running]:
    command = [sys.executable, "-c", "from elman.cli import main; main()", "serve", *named, "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = iter(process.stderr.readline, "")
        address = next((line.split()[-1] for line in lines if line.startswith("listening on")), None)
        if address is None:
            sys.exit("the server did not start")
        yield Running(int(address.rpartition(":")[2]), process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=60)
    if process.returncode != 0:
        sys.exit(f"the server ended with {process.returncode}: {rest}")


def _fallback(folder: Path) -> str:
    """A classifier of the default size with fresh weights."""
    from benchmarks.default_model import write_default_model  # TensorFlow, which clients do without

    return str(write_default_model(folder, cell="gru", task="classifier"))


def _texts(model: Path) -> list[str]:
    """The first test documents of the data that the model was trained on, where they are there; or made-up ones."""
    split = model.resolve().parents[2] / "data" / "prepared" / "test.parquet"
    if split.is_file():
        return pq.read_table(split, columns=["text"])["text"].to_pylist()[:TEXTS]
    from benchmarks.default_model import text

    random = np.random.default_rng(3)
    return [text(int(random.integers(20, 150)), seed=number) for number in range(TEXTS)]


if __name__ == "__main__":
    main()
