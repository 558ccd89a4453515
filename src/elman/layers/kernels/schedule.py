"""Which rows work at which step, for any mask.

A row of the batch takes part only in its real steps. The k-th real step of every row is worked on together, and rows
are sorted by how many they have, so that the rows still working are always the first ones: short rows cost nothing
after their end, and a mask with holes or padding on the left needs no code of its own.

A *position* counts the steps in the order in which they are worked on; its time step is the same number, or counted
from the end for a layer that goes backwards.
"""

import numpy as np
from numba import njit

from elman.layers.kernels.buffers import Array


@njit(cache=True, nogil=True, error_model="numpy")
def plan_steps(mask: Array, backwards: bool) -> tuple[Array, Array, Array]:
    """Return the schedule of a batch.

    Args:
        mask: bool (B, T). True for a real step.
        backwards: bool. Whether the sequence is read from its end.

    Returns:
        order: int64 (B,). Rows, those with the most real steps first, equal ones in the order of the batch.
        counts: int64 (B,). Number of real steps of each row.
        positions: int32 (B, T). In row b the first counts[b] numbers are the positions of its real steps, rising.
    """
    batch, length = mask.shape
    counts = np.zeros(batch, dtype=np.int64)
    positions = np.empty((batch, length), dtype=np.int32)
    for row in range(batch):
        for position in range(length):
            if mask[row, length - 1 - position if backwards else position]:
                positions[row, counts[row]] = position
                counts[row] += 1
    return _longest_first(counts, length), counts, positions


@njit(cache=True, nogil=True, error_model="numpy")
def _longest_first(counts: Array, length: int) -> Array:
    """Sort rows by falling count, equal ones in their order; a sort of NumPy's would take seconds to compile."""
    places = np.zeros(length + 2, dtype=np.int64)  # places[length - n + 1]: rows with n steps, then where they start
    for row in range(counts.shape[0]):
        places[length - counts[row] + 1] += 1
    for rank in range(length + 1):
        places[rank + 1] += places[rank]
    order = np.empty(counts.shape[0], dtype=np.int64)
    for row in range(counts.shape[0]):
        rank = length - counts[row]
        order[places[rank]] = row
        places[rank] += 1
    return order


@njit(cache=True, nogil=True, error_model="numpy")
def fill_masked_outputs(outputs: Array, positions: Array, count: int, row: int, zero_output: bool) -> None:
    """Give the masked steps of one row the output that stood before them (zero before the first), or zero.

    Args:
        outputs: float32 (B, T, U). Changed in place.
        positions: int32 (B, T). From `plan_steps`.
        count: int. Number of real steps of the row.
        row: int.
        zero_output: bool. Whether masked steps give zero.
    """
    _, length, units = outputs.shape
    step = 0
    for position in range(length):
        if step < count and positions[row, step] == position:
            step += 1
        elif zero_output or step == 0:
            for j in range(units):
                outputs[row, position, j] = 0.0
        else:
            for j in range(units):
                outputs[row, position, j] = outputs[row, position - 1, j]


@njit(cache=True, nogil=True, error_model="numpy")
def add_output_gradients(
    gradient: Array, index: int, d_outputs: Array, positions: Array, count: int, row: int, step: int, zero_output: bool
) -> None:
    """Add to gradient[index] what reaches the output of one real step: its own, and that of steps that repeat it.

    Args:
        gradient: float32 (R, >= U). Changed in place.
        index: int. Row of `gradient`.
        d_outputs: float32 (B, T, U). Gradient of the output sequence.
        positions: int32 (B, T). From `plan_steps`.
        count: int. Number of real steps of the row.
        row: int. Row of the batch.
        step: int. Which of the row's real steps.
        zero_output: bool. Whether masked steps gave zero, and so pass nothing on.
    """
    _, length, units = d_outputs.shape
    first = positions[row, step]
    end = positions[row, step + 1] if step + 1 < count else length
    if zero_output:
        end = first + 1
    for position in range(first, end):
        for j in range(units):
            gradient[index, j] += d_outputs[row, position, j]
