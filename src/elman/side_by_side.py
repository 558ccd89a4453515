"""Commands that run at the same time, each on its share of the cores."""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

Process = subprocess.Popen[str]


def run_side_by_side(commands: Mapping[str, Sequence[str]]) -> int:
    """Runs commands at once; what one starts after another has ended may use all cores.

    Args:
        commands: Name -> command. Each line that a command prints comes out with its name before it.

    Returns:
        The first exit code that is not 0, in the order of the commands.

    Example:
        >>> run_side_by_side({"one": ["true"], "two": ["false"]})
        1
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    processes = [
        _start(name, command, cores[number :: len(commands)]) for number, (name, command) in enumerate(commands.items())
    ]
    running = processes
    try:
        while running:
            still = [process for process in running if process.poll() is None]
            if len(still) < len(running):
                for process in still:
                    _use(process, cores)
            running = still
            time.sleep(0.2)
    except KeyboardInterrupt:  # the terminal has told the commands too
        for process in running:
            process.wait()
        raise
    return next((process.returncode for process in processes if process.returncode), 0)


def _start(name: str, command: Sequence[str], cores: Sequence[int]) -> Process:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
    )
    _use(process, cores)
    threading.Thread(target=_pass_on, args=(process, name)).start()
    return process


def _use(process: Process, cores: Sequence[int]) -> None:
    """Let a process, and what it starts from now on, use these cores."""
    if cores:
        # A container may forbid it, or the process has just ended; the commands then share all cores.
        with contextlib.suppress(OSError):
            os.sched_setaffinity(process.pid, cores)


def _pass_on(process: Process, name: str) -> None:
    assert process.stdout is not None
    with process.stdout:  # closed also where nobody reads ours any more, so that the command ends instead of waiting
        for line in process.stdout:
            print(f"[{name}] {line}", end="", flush=True)  # noqa: T201
