"""What a cell must offer so that `run_recurrence` can use it, in NumPy arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from elman.layers.kernels import buffers
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.schedule import plan_steps
from elman.layers.kernels.threads import ROWS_WORTH_A_THREAD, run_parts, share


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a layer reads a sequence.

    Attributes:
        sequences: Whether the whole output sequence is wanted.
        backwards: Whether the sequence is read from its end.
        zero_output: Whether masked steps give zero instead of repeating the output before them.
    """

    sequences: bool
    backwards: bool
    zero_output: bool


class Plan:
    """Which rows of a batch work at which step, shared out to threads.

    Attributes:
        counts: int64 (B,). Number of real steps of each row.
        positions: int32 (B, T). From `plan_steps`.
        parts: The rows of each thread.
        flags: backwards, sequences, zero_output: what kernels want to know of the reading.
    """

    def __init__(self, mask: Array, reading: Reading, *, multiply_adds_per_step: int, threads: int) -> None:
        order, self.counts, self.positions = plan_steps(mask, reading.backwards)
        work = int(self.counts.sum()) * multiply_adds_per_step
        self.parts = share(order, work, threads=threads, least=ROWS_WORTH_A_THREAD)
        self.flags = (reading.backwards, reading.sequences, reading.zero_output)

    def run(self, kernel: Callable[[int, Array], None]) -> None:
        """Call `kernel(part, rows)` for each part of the batch at the same time."""
        run_parts(lambda part: kernel(part, self.parts[part]), len(self.parts))

    def sums(self, *shape: int) -> Array:
        """Return zeros in which each part adds up numbers of its own: float32 (parts, *shape)."""
        return np.zeros((len(self.parts), *shape), dtype=np.float32)


def total(sums: Array) -> Array:
    """Return the sum over the parts, (parts, ...) to (...), in their order, so that it is the same in every run."""
    result = buffers.zeros(*sums.shape[1:])
    for part in sums:
        result += part
    return result


class Forward(Protocol):
    """A forward kernel."""

    def __call__(
        self, plan: Plan, keep: bool, projected: Array, places: Array, matrix: Array, bias: Array,
        states: Sequence[Array], outputs: Array, last: Sequence[Array], saved: Sequence[Array],
    ) -> None:  # fmt: skip
        """Fill `outputs`, `last` (one array a state) and `saved`; `keep` says whether `saved` is wanted.

        `projected` is x W of different inputs, (1, R, gates U), and `places`, (B, T), says which of them a step has.
        """


class Backward(Protocol):
    """A backward kernel."""

    def __call__(
        self, plan: Plan, matrix: Array, states: Sequence[Array], saved: Sequence[Array],
        d_outputs: Array, d_last: Sequence[Array],
        d_projected: Array, d_inner: Array, d_states: Sequence[Array],
    ) -> Array:  # fmt: skip
        """Fill `d_projected`, `d_inner` and `d_states`, and return the gradient of the bias.

        `d_inner`, the gradient of h' U, is the array `d_projected` itself unless the cell has `inner_apart`.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class CellKernel:
    """A cell's kernels and the sizes of their arrays.

    Attributes:
        gates: Width of x W in units.
        states: Number of states.
        saved: Widths in units of the arrays (B, T, width U) that the forward kernel keeps for the backward one; the
            last of them is h before each step.
        inner_apart: Whether the gradients of x W and of h' U differ.
        forward: The forward kernel.
        backward: The backward kernel.
    """

    gates: int
    states: int
    saved: tuple[int, ...]
    inner_apart: bool
    forward: Forward
    backward: Backward
