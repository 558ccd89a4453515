"""Runs the pipeline with the tasks side by side, each on its share of the cores: `python pipelines/side_by_side.py`.

`dvc repro` runs one stage at a time. A stage loads TensorFlow, compiles and reads on one core, so that on few cores
much of them is idle; two tasks at once fill them. The result is that of `dvc repro`: DVC itself decides what runs.
"""

import contextlib
import os
import subprocess
import sys
import threading

BEFORE = "encode"  # what the tasks share


def main() -> int:
    """Runs what the tasks share, then each task; returns the first exit code that is not 0."""
    names = subprocess.run(["dvc", "stage", "list", "--name-only"], check=True, capture_output=True, text=True).stdout
    lasts = [name for name in names.split() if name.startswith("compare@")]
    code = subprocess.run(["dvc", "repro", BEFORE], check=False).returncode
    if code or len(lasts) < 2:
        return code or subprocess.run(["dvc", "repro"], check=False).returncode
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    branches = [_start(last, cores[number :: len(lasts)]) for number, last in enumerate(lasts)]
    codes = [process.wait() for process in branches]
    return next((code for code in codes if code), 0)


def _start(last: str, cores: list[int]) -> subprocess.Popen[str]:
    """Start the stages up to `last`; their lines come out with the task's name before them."""
    process = subprocess.Popen(
        ["dvc", "--wait-for-lock", "repro", last], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if cores:
        with contextlib.suppress(OSError):  # a container may forbid it; then the tasks share all cores
            os.sched_setaffinity(process.pid, cores)
    task = last.removeprefix("compare@").replace("_", " ")
    threading.Thread(target=_pass_on, args=(process, task)).start()
    return process


def _pass_on(process: subprocess.Popen[str], task: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        print(f"[{task}] {line}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
