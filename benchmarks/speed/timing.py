"""One row: the libraries timed in turns, and what their times say."""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.peer import Peer
from benchmarks.speed.workloads import Workload

# A measurement takes at least so long, in seconds, by repeating the step.
LEAST_SECONDS = 0.25
# Threads of OpenMP go on spinning for up to 0.2 s after their work; the next library's turn starts after that.
SETTLE_SECONDS = 0.25
# After so many rounds a way of using PyTorch that takes this much longer than another way is not timed any more.
TRIAL_ROUNDS, HOPELESS = 2, 1.5

Times = dict[str, dict[int, float]]  # name of a peer -> round -> seconds; a way that is given up misses rounds


def time_row(workload: Workload, phase: str, peers: Sequence[Peer], *, repeats: int) -> dict[str, Any]:
    """Time one workload in `repeats` rounds; in each round every library has a turn, and the order goes round.

    Returns:
        The row as in results.json: medians in milliseconds, and for ratios the median and the quartiles of the pairs of
        each round.
    """
    tokens, steps = 0, {}
    for peer in peers:
        tokens = peer.ask(prepare=workload._asdict(), phase=phase)["tokens"]
        once = peer.ask(run=1)["seconds"]
        steps[peer.name] = max(1, round(LEAST_SECONDS / once))
    times: Times = {peer.name: {} for peer in peers}
    ceiling: list[float] = []
    for number in range(repeats):
        turns = [*peers[number % len(peers) :], *peers[: number % len(peers)]]
        for peer in turns:
            if number < TRIAL_ROUNDS or not _hopeless(peer.name, times):
                time.sleep(SETTLE_SECONDS)
                times[peer.name][number] = peer.ask(run=steps[peer.name])["seconds"]
        if number < TRIAL_ROUNDS:
            for peer in peers:
                time.sleep(SETTLE_SECONDS)
                ceiling.append(peer.ask(ceiling=True)["gigaflops"])
    return _row(workload, phase, times, tokens=tokens, ceiling=max(ceiling))


def _hopeless(name: str, times: Times) -> bool:
    if not name.startswith("pytorch"):
        return False
    medians = {other: _median(t) for other, t in times.items() if other.startswith("pytorch")}
    return medians[name] > HOPELESS * min(medians.values())


def _median(times: dict[int, float]) -> float:
    return statistics.median(times.values())


def _row(workload: Workload, phase: str, times: Times, *, tokens: int, ceiling: float) -> dict[str, Any]:
    ways = {name: t for name, t in times.items() if name.startswith("pytorch")}
    fastest = min(ways, key=lambda name: _median(ways[name]))
    ours = times["elman"]
    seconds = _median(ours)
    gigaflops = 2.0 * workload.multiply_adds(tokens, training=phase == "train") / seconds / 1e9
    return {
        "name": workload.name,
        "cell": workload.cell,
        "phase": phase,
        "elman_ms": 1e3 * seconds,
        "pytorch_ms": 1e3 * _median(ways[fastest]),
        "keras_ms": 1e3 * _median(times["keras"]),
        **_ratio("vs_pytorch", ways[fastest], ours),
        **_ratio("vs_keras", times["keras"], ours),
        "ceiling_share": gigaflops / ceiling,
        "gigaflops": gigaflops,
        "ceiling_gigaflops": ceiling,
        "pytorch_way": fastest.removeprefix("pytorch-"),
        "pytorch_ways_ms": {name.removeprefix("pytorch-"): 1e3 * _median(t) for name, t in ways.items()},
        "tokens": tokens,
        "repeats": len(ours),
    }


def _ratio(name: str, others: dict[int, float], ours: dict[int, float]) -> dict[str, float]:
    ratios = [seconds / ours[number] for number, seconds in others.items()]
    low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratios[0],) * 3
    return {name: middle, f"{name}_low": low, f"{name}_high": high}


def encoded_r8(root: Path) -> Path:
    """Return the folder of the encoded default data set.

    Raises:
        SystemExit: It is not there.
    """
    folder = root / "data" / "encoded"
    if not (folder / "train.parquet").is_file():
        raise SystemExit(f"{folder}/train.parquet: no such file; run `dvc repro encode` first")
    return folder
