"""How a training step's cost grows with its sizes: `python -m benchmarks.speed.growth`.

Times steps of elman at growing length, units, batch and vocabulary, and the most memory that a training process holds
against length. Writes benchmarks/growth.json and docs/results/growth.png. Takes about ten minutes.
"""

import argparse
import math
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from benchmarks.speed.peer import ROOT, Peer
from benchmarks.speed.workloads import CELLS, Workload
from elman.artifacts import read_json, write_json
from elman.reporting.cell_figures import save_figures
from elman.reporting.drawing import style
from elman.reporting.studies.styles import draw_band, look

# Name of an axis -> the workload at one of its sizes. Beside the size that grows: 128 units, batch 32, 128 steps.
AXES: dict[str, tuple[Sequence[int], Callable[[str, int], Workload]]] = {
    "length": ((64, 128, 256, 512, 1024, 2048), lambda cell, n: Workload("growth", "classifier", cell, length=n)),
    "units": (
        (64, 128, 256, 512, 1024),
        lambda cell, n: Workload("growth", "classifier", cell, units=n, embedding_dim=n),
    ),
    "batch": ((1, 4, 16, 64, 256), lambda cell, n: Workload("growth", "classifier", cell, batch_size=n)),
    "vocabulary": (
        (1_000, 4_000, 16_000, 64_000),
        lambda cell, n: Workload("growth", "language_model", cell, vocab_size=n, length=35),
    ),
}
TITLES = {
    "length": "steps T",
    "units": "units U = D",
    "batch": "batch B",
    "vocabulary": "vocabulary V (language model)",
}


def main() -> None:
    """Measures, writes and draws."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.growth", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only-draw", action="store_true", help="draw benchmarks/growth.json again")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "growth.json")
    parser.add_argument("--figures", type=Path, default=ROOT / "docs" / "results")
    arguments = parser.parse_args()
    if not arguments.only_draw:
        rows = [*_times(arguments.threads, arguments.repeats), *_memory(arguments.threads)]
        write_json(arguments.out, {"version": 1, "threads": arguments.threads, "rows": rows})
    save_figures({"growth": _draw(read_json(arguments.out)["rows"])}, arguments.figures)
    print(arguments.figures / "growth.png")


def _new_peer(threads: int) -> Peer:
    return Peer("elman", ["elman_worker"], threads=threads, encoded=ROOT)


def _times(threads: int, repeats: int) -> list[dict[str, Any]]:
    peer = _new_peer(threads)
    rows = []
    try:
        for axis, (sizes, make) in AXES.items():
            for cell in CELLS:
                for size in sizes:
                    tokens = peer.ask(prepare=make(cell, size)._asdict(), phase="train")["tokens"]
                    steps = max(1, round(0.2 / peer.ask(run=1)["seconds"]))
                    times = [1e6 * peer.ask(run=steps)["seconds"] / tokens for _ in range(repeats)]
                    low, middle, high = statistics.quantiles(times, n=4)
                    row = {"axis": axis, "cell": cell, "size": size, "microseconds_per_token": middle}
                    rows.append({**row, "low": low, "high": high})
                    print(f"{axis:10} {cell:10} {size:6} {middle:8.2f} us a token", file=sys.stderr, flush=True)
    finally:
        peer.close()
    return rows


def _memory(threads: int) -> list[dict[str, Any]]:
    rows = []
    sizes, make = AXES["length"]
    for cell in CELLS:
        for size in sizes:
            peer = _new_peer(threads)  # the peak of a process never falls: each size has one of its own
            peer.ask(prepare=make(cell, size)._asdict(), phase="train")
            peer.ask(run=2)
            megabytes = peer.ask(memory=True)["megabytes"]
            peer.close()
            rows.append({"axis": "memory", "cell": cell, "size": size, "megabytes": megabytes})
            print(f"memory     {cell:10} {size:6} {megabytes:8.0f} MB", file=sys.stderr, flush=True)
    return rows


def _draw(rows: list[dict[str, Any]]) -> Figure:
    figure = Figure(figsize=(11, 6.4), layout="constrained")
    with style(for_page=False):
        axes = figure.subplots(2, 3)
        for name, panel in zip([*AXES, "memory"], axes.flat, strict=False):
            for cell in CELLS:
                points = [row for row in rows if row["axis"] == name and row["cell"] == cell]
                sizes = [row["size"] for row in points]
                if name == "memory":
                    panel.plot(sizes, [row["megabytes"] for row in points], linewidth=1.4, markersize=4, **look(cell))
                else:
                    bands = [
                        {"mean": row["microseconds_per_token"], "min": row["low"], "max": row["high"]} for row in points
                    ]
                    draw_band(panel, sizes, bands, name=cell, label=cell)
            panel.set_xscale("log", base=2)
            panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
            panel.minorticks_off()
            panel.set_xlabel(TITLES.get(name, "steps T"))
            panel.set_title("peak memory of training, MB" if name == "memory" else "microseconds a token")
            if name in ("units", "batch", "vocabulary"):  # over so wide a range that small values would lie on the axis
                panel.set_yscale("log")
                low, high = panel.get_ylim()
                panel.set_ylim(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)))
                panel.yaxis.set_major_formatter("{x:g}")
                panel.yaxis.set_minor_formatter(NullFormatter())
            else:
                panel.set_ylim(bottom=0)
        axes.flat[5].axis("off")
        axes.flat[0].legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
