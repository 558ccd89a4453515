"""Runs the pipeline with the tasks side by side, each on its share of the cores: `python pipelines/side_by_side.py`.

`dvc repro` runs one stage at a time. A stage loads TensorFlow, compiles and reads on one core, so that on few cores
much of them is idle; two tasks at once fill them. The result is that of `dvc repro`: DVC itself decides what runs.
"""

import contextlib
import os
import subprocess
import sys
import threading
import time

BEFORE = "encode"  # what the tasks share


def main() -> int:
    """Runs what the tasks share, then each task; returns the first exit code that is not 0."""
    listed = subprocess.run(["dvc", "stage", "list", "--name-only"], check=False, stdout=subprocess.PIPE, text=True)
    if listed.returncode:
        return listed.returncode  # DVC has said why
    tasks = stages_of_tasks(listed.stdout.split())
    code = subprocess.run(["dvc", "repro", BEFORE], check=False).returncode
    if code or len(tasks) < 2:
        return code or subprocess.run(["dvc", "repro"], check=False).returncode
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    branches = [
        _start(task, stages, cores[number :: len(tasks)]) for number, (task, stages) in enumerate(tasks.items())
    ]
    codes = _wait(branches, cores)
    return next((code for code in codes if code), 0)


def _wait(branches: list[subprocess.Popen[str]], cores: list[int]) -> list[int]:
    """Wait for all tasks; the stages that a task begins after another has ended may use all cores."""
    running = branches
    try:
        while running:
            still = [process for process in running if process.poll() is None]
            if len(still) < len(running):
                for process in still:
                    _use(process, cores)
            running = still
            time.sleep(0.2)
    except KeyboardInterrupt:  # the terminal has told the tasks too
        for process in running:
            process.wait()
        raise
    return [process.wait() for process in branches]


def stages_of_tasks(names: list[str]) -> dict[str, list[str]]:
    """The stages of each task, in the order of dvc.yaml, which is the order of work.

    Args:
        names: Of all stages: `name`, `name@task` or `name@task-cell`.
    """
    tasks = [name.removeprefix("compare@") for name in names if name.startswith("compare@")]
    return {task: [name for name in names if f"{name}-".partition("@")[2].startswith(f"{task}-")] for task in tasks}


def _start(task: str, stages: list[str], cores: list[int]) -> subprocess.Popen[str]:
    """Start a task's stages; their lines come out with the task's name before them."""
    # Each by itself: DVC would go through the shared ones too, and refuses those whose files the other task is reading.
    command = ["dvc", "--wait-for-lock", "repro", "--single-item", *stages]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
    )
    _use(process, cores)
    threading.Thread(target=_pass_on, args=(process, task.replace("_", " "))).start()
    return process


def _use(process: subprocess.Popen[str], cores: list[int]) -> None:
    """Let a process, and what it starts from now on, use these cores."""
    if cores:
        # A container may forbid it, or the process has just ended; the tasks then share all cores.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(process.pid, cores)


def _pass_on(process: subprocess.Popen[str], name: str) -> None:
    assert process.stdout is not None
    with process.stdout:  # closed also where nobody reads ours any more, so that the task ends instead of waiting
        for line in process.stdout:
            print(f"[{name}] {line}", end="", flush=True)


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
