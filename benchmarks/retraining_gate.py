"""What the gate of `elman retrain` does with models whose true quality is known: benchmarks/retraining_gate.json.

    python -m benchmarks.retraining_gate

Simulated models, some minutes on one core. Ends with 1 where a claim of docs/retraining-gate.md does not hold.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.retraining_nights import new_seeds, new_seeds_of_three, ratchet
from benchmarks.retraining_trials import class_blocks, planted, planted_text, shuffled
from elman.artifacts import write_json

MARGIN = 0.01  # as in params.yaml; seeds that differ by more are no claim
OUT = Path(__file__).with_suffix(".json")


def measured(*, runs: int, seed: int = 1) -> dict[str, Any]:
    """All simulations."""
    draws = [np.random.default_rng([seed, number]) for number in range(8)]
    return {
        "version": 1,
        "seed": seed,
        "new_seeds": new_seeds(draws[0], runs=runs),
        "new_seeds_spread_from_three": new_seeds_of_three(draws[7], runs=runs),
        "planted_gain": planted(draws[1], runs=4 * runs, gain=0.05, champion=0.93),
        "truly_worse_by_the_margin": planted(draws[2], runs=4 * runs, gain=-0.01, champion=0.95),
        "language_model": planted_text(draws[3], runs=runs, gain=0.05)
        + planted_text(draws[3], runs=4 * runs, gain=-0.01),
        "shuffled": shuffled(draws[4], runs=4 * runs),
        "ratchet": ratchet(draws[5], runs=max(1, runs // 4)),
        "class_floors": class_blocks(draws[6], runs=4 * runs),
    }


def failures(found: dict[str, Any]) -> list[str]:
    """The claims that the figures do not bear out."""
    wrong = [
        f"same data, new seed: {row}"
        for row in [row for row in found["new_seeds"] if row["seed_spread"] <= MARGIN]
        if not row["new_data"] and row["share_at_most_one"] < 0.95
    ]
    wrong += [
        f"same data, new seed, spread from three: {row}"
        for row in found["new_seeds_spread_from_three"]
        if row["share_at_most_one"] < 0.95
    ]
    wrong += [
        f"a gain of 5 points: {row}"
        for row in found["planted_gain"]
        if row["documents"] >= 2_189 and row["promoted"] < 1.0
    ]
    wrong += [f"worse by the margin: {row}" for row in found["truly_worse_by_the_margin"] if row["promoted"] > 0.05]
    if found["shuffled"]["against_champion"] or found["shuffled"]["first"]:
        wrong.append(f"shuffled labels: {found['shuffled']}")
    return wrong


def main() -> None:
    """Runs the simulations, records them and says which claims do not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    found = measured(runs=options.runs)
    write_json(options.out, found)
    for line in failures(found):
        print(line, file=sys.stderr)
    sys.exit(bool(failures(found)))


if __name__ == "__main__":
    main()
