"""How much two trainings of the same seed differ: `python -m benchmarks.determinism`.

Trains both tasks' cells on small data in several processes, with and without `compute.deterministic`, and counts how
many different weights come out and how far they lie apart. Writes benchmarks/determinism.json. Takes about 10 minutes.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.saved_weights import saved_weights
from elman.artifacts import read_json, write_json
from tests.helpers.project import Project

CELLS = ["simple_rnn", "lstm", "gru"]


def main() -> None:
    """Trains, compares and writes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.determinism", description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "determinism.json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        project.change_params({"experiment": {"cells": CELLS, "seeds": [1]}, "classifier": {"units": 48}})
        project.run(["dvc", "repro", "-q", "encode"])
        for deterministic in (True, False):
            project.change_params({"compute": {"deterministic": deterministic}})
            for task in ("classifier", "language_model"):
                for cell in CELLS:
                    rows.append(_row(project, task, cell, runs=arguments.runs, deterministic=deterministic))
                    print(rows[-1], flush=True)
    write_json(arguments.out, {"version": 1, "rows": rows})


def _row(project: Project, task: str, cell: str, *, runs: int, deterministic: bool) -> dict[str, Any]:
    folder = project.root / "models" / task / cell / "seed-1"
    weights, losses = [], []
    for _ in range(runs):
        (folder / "trained.json").unlink(missing_ok=True)  # else the seed would be kept
        project.run(["python", "pipelines/train.py", task, cell])
        weights.append(np.concatenate([part.ravel() for part in saved_weights(folder / "model.keras").values()]))
        losses.append(min(row["valid/loss"] for row in read_json(folder / "history.json")))
    return {
        "task": task,
        "cell": cell,
        "deterministic": deterministic,
        "runs": runs,
        "different_weights": len({values.tobytes() for values in weights}),
        "largest_difference": float(max(np.abs(values - weights[0]).max() for values in weights)),
        "valid_loss_spread": max(losses) - min(losses),
    }


if __name__ == "__main__":
    main()
