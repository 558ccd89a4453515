"""Sequences of numbers whose answer needs memory: adding two marked values, and a sum that starts anew."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class Batch(NamedTuple):
    """Sequences with their answers.

    Attributes:
        inputs: float32 (B, T, 2). The value, and the marker or reset flag (0 or 1).
        targets: float32 (B, S). S is 1 where only the end is asked for, T where every step is.
    """

    inputs: Floats
    targets: Floats


def adding_batch(generator: np.random.Generator, *, batch_size: int, length: int) -> Batch:
    """The adding problem: the sum of the two values that are marked, asked for at the end.

    Values are uniform on [0, 1), one marker stands in each half of the sequence. A constant answer of 1 has a mean
    squared error of 2/12, the variance of the sum. Hochreiter and Schmidhuber (1997) drew from [-1, 1], scaled the sum
    and put both markers early; this form is the one that later work reports.

    Args:
        generator: Where the numbers come from.
        batch_size: B.
        length: T, at least 2.

    References:
        hochreiter1997long
    """
    values = generator.random((batch_size, length), dtype=np.float32)  # (B, T)
    rows = np.arange(batch_size)
    first = generator.integers(0, length // 2, batch_size)  # (B,)
    second = generator.integers(length // 2, length, batch_size)  # (B,)
    markers = np.zeros_like(values)
    markers[rows, first] = markers[rows, second] = 1.0
    targets = values[rows, first] + values[rows, second]  # (B,)
    return Batch(np.stack([values, markers], axis=-1), targets[:, None])


def reset_batch(
    generator: np.random.Generator, *, batch_size: int, length: int, reset_probability: float = 0.05
) -> Batch:
    """The running sum with resets: at every step the sum of the values since the last reset, that step's included.

        y = x + (1 - r) y'

    Values are uniform on [-1, 1); a step resets with `reset_probability`, and the first always does. Keeping needs a
    memory without loss, resetting needs one that can be emptied at once.

    Args:
        generator: Where the numbers come from.
        batch_size: B.
        length: T.
        reset_probability: Share of the steps that reset.

    References:
        gers2000learning
    """
    values = generator.uniform(-1.0, 1.0, (batch_size, length)).astype(np.float32)  # (B, T)
    resets = generator.random((batch_size, length)) < reset_probability  # (B, T)
    resets[:, 0] = True
    targets = np.zeros_like(values)
    total = np.zeros(batch_size, np.float32)
    for step in range(length):
        total = np.where(resets[:, step], 0.0, total) + values[:, step]
        targets[:, step] = total
    return Batch(np.stack([values, resets.astype(np.float32)], axis=-1), targets)
