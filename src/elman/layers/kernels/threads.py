"""The rows of a batch shared out to threads.

Kernels release the interpreter lock, so plain Python threads run them side by side. No OpenMP: its threads spin after
each parallel region on the cores that TensorFlow's products need next, and numba's plainest thread layer forbids two
kernels at once.
"""

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from elman.layers.kernels.buffers import Array

# Below this many multiply-adds for each thread, waking a thread costs more than it saves.
_WORTH_A_THREAD = 2_000_000
# Fewer rows than this leave the register blocks of a product half empty.
ROWS_WORTH_A_THREAD = 4


@functools.cache
def _pool(process_id: int, workers: int) -> ThreadPoolExecutor:  # noqa: ARG001  (a forked child needs its own threads)
    return ThreadPoolExecutor(workers, thread_name_prefix="elman-kernel")


def available_threads() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(items: Array, multiply_adds: int, *, threads: int, least: int = 1) -> list[Array]:
    """Deal items out to threads in turn, so that of rows sorted by length each thread gets long and short ones.

    Args:
        items: (N, ...). Rows of a batch, or runs of steps.
        multiply_adds: Work of all items.
        threads: At most so many parts.
        least: At least so many items for each part, when there is more than one.

    Returns:
        One array for each thread, none of them empty; no array where there is no item.
    """
    parts = max(1, min(threads, multiply_adds // _WORTH_A_THREAD, len(items) // least))
    return [np.ascontiguousarray(items[part::parts]) for part in range(parts)] if len(items) else []


def run_parts(work: Callable[[int], None], parts: int) -> None:
    """Call work(0) .. work(parts - 1) at the same time, the first in this thread, and wait for all."""
    if parts == 0:
        return
    others = [_pool(os.getpid(), max(1, available_threads() - 1)).submit(work, part) for part in range(1, parts)]
    try:
        work(0)
    finally:
        for other in others:
            other.result()
