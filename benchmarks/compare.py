"""Times `elman compare` on 100,000 documents and 6 systems of 3 seeds: python -m benchmarks.compare.

Scores are generated; each case runs as a command of its own, so that its peak memory is its own.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from elman.artifacts import write_json
from tests.helpers.scores import classifier_scores, language_model_scores, write_scores

DOCUMENTS, SYSTEMS, SEEDS = 100_000, 6, (1, 2, 3)
CASES = [("classifier", "accuracy"), ("classifier", "macro_f1"), ("language_model", "bits_per_byte")]


def main() -> None:
    """Writes benchmarks/compare.json."""
    names = [f"system-{number}" for number in range(SYSTEMS)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), names)
        for task, measure in CASES:
            command = [str(Path(sys.executable).parent / "elman"), "compare", *names, "--json", "--reports", folder]
            started = time.perf_counter()
            process = subprocess.Popen([*command, "--task", task, "--measure", measure], stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)  # what this process alone used
            if status:
                sys.exit(f"elman compare of {task} by {measure} ended with code {os.waitstatus_to_exitcode(status)}")
            row = {
                "task": task,
                "measure": measure,
                "seconds": round(time.perf_counter() - started, 1),
                "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
                "peak_mb": round(used.ru_maxrss / 1024),  # kilobytes on Linux
            }
            print(row, flush=True)
            rows.append(row)
    size = {"documents": DOCUMENTS, "systems": SYSTEMS, "seeds": len(SEEDS), "resamples": 2000}
    write_json(Path(__file__).parent / "compare.json", {"version": 1, "cores": os.cpu_count(), **size, "rows": rows})


def _write(reports: Path, names: list[str]) -> None:
    random = np.random.default_rng(1)
    base = random.normal(4.0, 0.5, size=DOCUMENTS)
    for name in names:
        right = random.random((len(SEEDS), DOCUMENTS)) < 0.93
        write_scores(reports / "classifier" / "cells" / name, classifier_scores(right, classes=8), seeds=SEEDS)
        nats = base + random.normal(0.0, 0.2, size=(len(SEEDS), DOCUMENTS))
        write_scores(reports / "language_model" / "cells" / name, language_model_scores(nats), seeds=SEEDS)


if __name__ == "__main__":
    main()
