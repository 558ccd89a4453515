"""The process of one library: reads one JSON request a line, answers with one JSON object a line.

Each library has a process of its own, so that no thread pool or memory allocator of one can disturb another; while one
is timed the others wait for a line. Requests:

    {"prepare": {...}, "phase": "train", "threads": 2, "encoded": "..."}   ->  {"ready": true, "tokens": 1234}
    {"run": 3}                      three steps, after which results are waited for  ->  {"seconds": 0.12}
    {"ceiling": true}               a large matrix product  ->  {"gigaflops": 150.0}
    {"memory": true}                the most memory that the process held so far  ->  {"megabytes": 900.0}
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from benchmarks.speed.workloads import Batch, Workload, epoch_batches, make_batch

Step = Callable[[], None]


class Library(Protocol):
    """What a library's worker offers."""

    def set_threads(self, threads: int) -> None:
        """Fix the number of threads; called once, first."""

    def make_step(self, workload: Workload, batches: list[Batch], phase: str) -> Step:
        """Return a function that trains on (phase "train") or scores ("infer") each batch once, and waits for it."""

    def product(self, size: int) -> Step:
        """Return a function that multiplies two float32 matrices of size x size."""


def serve(library: Library) -> None:
    """Answers requests until standard input ends. What libraries print goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    step: Step | None = None
    threads_set = False
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        if not threads_set:
            library.set_threads(request["threads"])
            threads_set = True
        if "prepare" in request:
            workload = Workload(**request["prepare"])
            encoded = Path(request["encoded"])
            batches = epoch_batches(workload, encoded) if workload.task == "epoch" else [make_batch(workload)]
            step = library.make_step(workload, batches, request["phase"])
            step()  # compiles, allocates
            answer = {"ready": True, "tokens": int(sum(batch.lengths.sum() for batch in batches))}
        elif "run" in request:
            assert step is not None, "prepare comes before run"
            started = time.perf_counter()
            for _ in range(request["run"]):
                step()
            answer = {"seconds": (time.perf_counter() - started) / request["run"]}
        elif "memory" in request:
            answer = {"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}  # kilobytes on Linux
        else:
            answer = {"gigaflops": measure_ceiling(library)}
        print(json.dumps(answer), file=answers, flush=True)


def measure_ceiling(library: Library, *, size: int = 1024, repeats: int = 5) -> float:
    """Return the rate of a large matrix product, in GFLOP/s."""
    multiply = library.product(size)
    multiply()
    started = time.perf_counter()
    for _ in range(repeats):
        multiply()
    return 2.0 * size**3 * repeats / (time.perf_counter() - started) / 1e9
