"""Where the time of a training step goes: `python -m benchmarks.speed.step_profile`.

Prints for each workload how long its parts take, and how long their matrix products alone would take at the best large
product that this machine reached in the same process. Two directions are left out: their parts run at the same time, so
that their times do not add up to the step's. Writes benchmarks/profile.json. Takes about two minutes.
"""

import argparse
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.speed.peer import ROOT
from benchmarks.speed.timing import encoded_r8
from benchmarks.speed.worker import measure_ceiling
from benchmarks.speed.workloads import (
    CELLS,
    GATES,
    Workload,
    epoch_batches,
    epoch_workloads,
    make_batch,
    step_workloads,
)
from elman.artifacts import write_json

# In the order of a step. What no part holds is TensorFlow's: embedding, dropout, pooling, the head of a classifier,
# the optimizer, the norm, copies to and from the kernels, and the start of each operation.
PARTS = (
    "input products",
    "forward recurrence",
    "softmax",
    "backward recurrence",
    "weight gradients",
    "the rest",
)

Seconds = dict[str, float]


def main() -> None:
    """Parses the command line, measures, prints and writes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.step_profile", description=__doc__)
    parser.add_argument("--rows", nargs="*", help="only rows whose name starts with one of these")
    parser.add_argument("--cells", nargs="*", choices=CELLS, default=["lstm"])
    parser.add_argument("--repeats", type=int, default=15, help="steps of a row, 3 of an epoch; the median counts")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--encoded", type=Path, help="folder of the encoded R8; default: data/encoded")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "profile.json")
    arguments = parser.parse_args()
    workloads = [
        row
        for row in [*step_workloads(), *epoch_workloads()]
        if row.cell in arguments.cells
        and not row.bidirectional
        and (not arguments.rows or any(row.name.startswith(name) for name in arguments.rows))
    ]
    encoded = arguments.encoded or (encoded_r8(ROOT) if any(row.task == "epoch" for row in workloads) else ROOT)
    seconds = time_parts()  # before the library is loaded: its graphs keep the functions that they find
    from benchmarks.speed.elman_worker import Elman

    library = Elman()
    library.set_threads(arguments.threads)
    rows = []
    for workload in workloads:
        rows.append(_profile(library, workload, seconds, repeats=arguments.repeats, encoded=encoded))
        print(_text(rows[-1]), flush=True)
        write_json(arguments.out, {"version": 1, "threads": arguments.threads, "rows": rows})


def time_parts() -> Seconds:
    """Replace the kernels' entry points by ones that add up their time; returns the sums, by name of part."""
    from elman.layers.kernels import softmax_nll
    from elman.layers.kernels.array_work import ArrayWork

    seconds: Seconds = defaultdict(float)

    def timed(owner: Any, name: str, part: str) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def call(*arguments: Any, **options: Any) -> Any:
            started = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                seconds[part] += time.perf_counter() - started

        setattr(owner, name, call)

    timed(ArrayWork, "_forward", "whole forward")
    timed(ArrayWork, "_project", "input products")
    timed(ArrayWork, "backward", "whole backward")
    timed(ArrayWork, "_token_gradients", "weight gradients")
    timed(softmax_nll, "softmax_nll", "softmax")
    return seconds


def split_step(seconds: Seconds, whole: float) -> Seconds:
    """Return seconds by part of `PARTS`, which add up to the whole step's."""
    parts = {name: seconds.get(name, 0.0) for name in PARTS}
    parts["forward recurrence"] = seconds["whole forward"] - seconds["input products"]
    parts["backward recurrence"] = seconds["whole backward"] - seconds["weight gradients"]
    parts["the rest"] = whole - sum(parts[name] for name in PARTS[:-1])
    return parts


def multiply_adds_of_parts(workload: Workload, tokens: int) -> dict[str, float]:
    """Multiply-adds of the matrix products of each part; their sum is `Workload.multiply_adds` of a training step."""
    width, parts = workload.embedding_dim, dict.fromkeys(PARTS, 0.0)
    for _ in range(workload.num_layers):
        gates = GATES[workload.cell] * workload.units
        parts["input products"] += gates * width
        parts["forward recurrence"] += gates * workload.units
        parts["backward recurrence"] += gates * workload.units
        parts["weight gradients"] += gates * (2 * width + workload.units)  # of the inputs, and of both kernels
        width = workload.units
    if workload.task == "language_model":
        parts["softmax"] = 3 * workload.units * workload.vocab_size
    return {name: number * tokens for name, number in parts.items()}


def _profile(library: Any, workload: Workload, seconds: Seconds, *, repeats: int, encoded: Path) -> dict[str, Any]:
    epoch = workload.task == "epoch"
    batches = epoch_batches(workload, encoded) if epoch else [make_batch(workload)]
    step = library.make_step(workload, batches, "train")
    step()  # compiles, allocates
    samples: list[tuple[float, Seconds]] = []
    for _ in range(3 if epoch else repeats):
        seconds.clear()
        started = time.perf_counter()
        step()
        whole = time.perf_counter() - started
        samples.append((whole, split_step(seconds, whole)))
    ceiling = max(measure_ceiling(library) for _ in range(3))
    needed = multiply_adds_of_parts(workload, int(sum(batch.lengths.sum() for batch in batches)))
    return {
        "name": workload.name,
        "cell": workload.cell,
        "step_ms": 1e3 * statistics.median(whole for whole, _ in samples),
        "ceiling_gigaflops": ceiling,
        "parts": {
            name: {
                "ms": 1e3 * statistics.median(parts[name] for _, parts in samples),
                "products_ms": 2.0 * needed[name] / ceiling / 1e6,
            }
            for name in PARTS
        },
    }


def _text(row: dict[str, Any]) -> str:
    head = f"{row['name']}, {row['cell']}: {row['step_ms']:.1f} ms; ceiling {row['ceiling_gigaflops']:.0f} GFLOP/s"
    lines = [
        f"\n{head}\n",
        "| part | ms | share | its products at the ceiling, ms |",
        "|---|---:|---:|---:|",
    ]
    for name, part in row["parts"].items():
        products = f"{part['products_ms']:.1f}" if part["products_ms"] else ""
        if part["ms"] >= 0.05:
            lines.append(f"| {name} | {part['ms']:.1f} | {part['ms'] / row['step_ms']:.0%} | {products} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
