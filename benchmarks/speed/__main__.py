"""Time elman against PyTorch and stock Keras in one interleaved run: `make bench`, or `python -m benchmarks.speed`.

Prints a table of ratios (above 1: elman is faster) and writes benchmarks/results.json. Takes about half an hour.
"""

import argparse
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.speed.peer import ROOT, Peer
from benchmarks.speed.timing import encoded_r8, time_row
from benchmarks.speed.workloads import CELLS, Workload, epoch_workloads, step_workloads
from elman.artifacts import read_json, write_json


def main() -> None:
    """Parses the command line and runs all rows asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--rows", nargs="*", help="only rows whose name starts with one of these")
    parser.add_argument("--cells", nargs="*", choices=CELLS, default=list(CELLS))
    parser.add_argument("--phases", nargs="*", choices=["train", "infer"], default=["train", "infer"])
    parser.add_argument("--repeats", type=int, default=9, help="rounds of each row, 7 or more for a claim")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--encoded", type=Path, help="folder of the encoded R8; default: data/encoded")
    parser.add_argument("--out", type=Path, help="default: benchmarks/results.json, if no row is left out")
    parser.add_argument("--only-print", action="store_true", help="print the recorded results as Markdown")
    arguments = parser.parse_args()
    recorded = ROOT / "benchmarks" / "results.json"
    if arguments.only_print:
        print(_markdown(read_json(arguments.out or recorded)["rows"]))
        return
    whole = not arguments.rows and len(arguments.cells) == len(CELLS) and len(arguments.phases) == 2
    if not whole and not arguments.out:
        parser.error("a run of some rows needs --out: benchmarks/results.json is for all of them")
    out = arguments.out or recorded
    encoded = arguments.encoded or encoded_r8(ROOT)

    def chosen(workload: Workload) -> bool:
        named = not arguments.rows or any(workload.name.startswith(name) for name in arguments.rows)
        return named and workload.cell in arguments.cells

    workloads = [row for row in [*step_workloads(), *epoch_workloads()] if chosen(row)]
    jobs = [(row, phase) for row in workloads for phase in arguments.phases if phase == "train" or row.task != "epoch"]
    jobs.sort(key=lambda job: (CELLS.index(job[0].cell), job[1] != "train"))  # a stopped run has whole cells
    modules = {"elman": ["elman_worker"], "keras": ["keras_worker"]}
    modules |= {f"pytorch-{way}": ["pytorch_worker", way] for way in ("gathered", "packed")}
    peers = [Peer(n, module, threads=arguments.threads, encoded=encoded.resolve()) for n, module in modules.items()]
    rows: list[dict[str, Any]] = []
    started = time.perf_counter()
    try:
        for number, (workload, phase) in enumerate(jobs, start=1):
            some = peers if workload.ragged else [peer for peer in peers if peer.name != "pytorch-packed"]
            rows.append(time_row(workload, phase, some, repeats=arguments.repeats))
            # After each row, so that a run that is stopped leaves what it has measured.
            write_json(out, {"version": 1, "machine": _machine(arguments.threads), "rows": rows})
            left = (time.perf_counter() - started) / number * (len(jobs) - number)
            print(f"{_line(rows[-1])}   {left / 60:.0f} min left", file=sys.stderr, flush=True)
    finally:
        for peer in peers:
            peer.close()
    print("\n".join([_HEAD, *map(_line, rows)]))


_HEAD = (
    f"{'row':24} {'cell':10} {'phase':5} {'elman':>8} {'PyTorch':>8} {'Keras':>8}   {'x PyTorch (quartiles)':21} "
    f"{'x Keras (quartiles)':21} ceiling\n{'':41} {'ms':>8} {'ms':>8} {'ms':>8}"
)


def _line(row: dict[str, Any]) -> str:
    ratios = [
        f"{row[name]:5.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"
        for name in ("vs_pytorch", "vs_keras")
    ]
    return (
        f"{row['name']:24} {row['cell']:10} {row['phase']:5} {row['elman_ms']:8.1f} {row['pytorch_ms']:8.1f} "
        f"{row['keras_ms']:8.1f}   {ratios[0]:21} {ratios[1]:21} {row['ceiling_share']:6.0%}"
    )


def _markdown(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| row | cell | phase | elman, ms | x PyTorch | x Keras | PyTorch's way | share of ceiling |",
        "|---|---|---|---:|---:|---:|---|---:|",
    ]
    for row in rows:
        ratios = [
            f"{row[name]:.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"
            for name in ("vs_pytorch", "vs_keras")
        ]
        way = row["pytorch_way"] if len(row["pytorch_ways_ms"]) > 1 else "plain"
        lines.append(
            f"| {row['name']} | {row['cell']} | {row['phase']} | {row['elman_ms']:.1f} | {ratios[0]} | {ratios[1]} | "
            f"{way} | {row['ceiling_share']:.0%} |"
        )
    return "\n".join(lines)


def _machine(threads: int) -> dict[str, Any]:
    packages = ("tensorflow", "keras", "torch", "numpy", "numba")
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        names = [
            line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        processor = names[0] if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "threads": threads,
        "python": platform.python_version(),
        "load_at_end": os.getloadavg()[0],
        **{package: version(package) for package in packages},
    }


if __name__ == "__main__":
    main()
