"""Steps with the same input: its product with the kernel is formed once.

A batch of text repeats its frequent tokens, so of the rows that an embedding hands to the first layer often only a
third differ. Rows are compared by their bits; nothing has to be known of where they come from.
"""

import functools
from typing import NamedTuple

import numpy as np
from numba import njit

from elman.layers.kernels.buffers import Array, read_only
from elman.layers.kernels.tokens import plan_runs

# Nothing is joined where so few steps could be, or where so many of the first ones all differ (as in an upper layer).
_TRIAL = 64
# Inputs are joined where so few of the steps differ that the products saved clearly outweigh the copying (not tuned).
_WORTH_JOINING = 0.75


class DistinctInputs(NamedTuple):
    """The inputs of a batch, as rows of which the real steps name one each.

    Attributes:
        rows: float32 (R, D). The different inputs, or all steps as they stand.
        runs: int64 (N, 2). Start and end of the runs of rows that are named by a step.
        places: int32 (B, T). The row of each real step; any number at masked ones.
        joined: Whether equal inputs share a row.
    """

    rows: Array
    runs: Array
    places: Array
    joined: bool


def distinct_inputs(x: Array, mask: Array) -> DistinctInputs:
    """Return the inputs (B, T, D) of the real steps of mask (B, T), each different one once where that saves work."""
    steps, real = x.reshape(-1, x.shape[-1]), mask.reshape(-1)
    if mask.size > _TRIAL:
        places, firsts = find_distinct(steps.view(np.int32), _hash_weights(steps.shape[1]), real)
        if 0 < len(firsts) <= _WORTH_JOINING * np.count_nonzero(real):
            rows = read_only(np.take(steps, firsts, axis=0))
            runs = plan_runs(read_only(np.ones(len(rows), dtype=np.bool_)))
            return DistinctInputs(rows, runs, read_only(places.reshape(mask.shape)), joined=True)
    places = np.arange(mask.size, dtype=np.int32).reshape(mask.shape)
    return DistinctInputs(steps, plan_runs(real), read_only(places), joined=False)


@functools.cache
def _hash_weights(width: int) -> Array:
    return read_only(np.random.default_rng(0).integers(1, 2**31, width, dtype=np.int32))


@njit(cache=True, nogil=True, error_model="numpy")
def find_distinct(bits: Array, weights: Array, mask: Array) -> tuple[Array, Array]:
    """Return which row each real step has among the different ones, and the steps at which those stand first.

    Args:
        bits: int32 (S, D). The inputs.
        weights: int32 (D,). Random factors, of which rows that differ get different sums.
        mask: bool (S,). True for a real step.

    Returns:
        places: int32 (S,); 0 at masked steps.
        firsts: int64 (R,); none where the first steps all differ.
    """
    size = 1
    while size < 2 * mask.shape[0]:
        size *= 2
    table = np.full(size, -1, dtype=np.int32)  # open addressing: numbers of rows, at the place that the sum names
    sums = np.empty(mask.shape[0], dtype=np.int64)
    places, firsts = np.zeros(mask.shape[0], dtype=np.int32), np.empty(mask.shape[0], dtype=np.int64)
    found, seen = 0, 0
    for step in range(mask.shape[0]):
        if not mask[step]:
            continue
        if seen == _TRIAL and found == seen:
            return places, firsts[:0].copy()
        seen += 1
        total = np.int64(0)
        for j in range(bits.shape[1]):
            total += np.int64(bits[step, j]) * np.int64(weights[j])
        slot = (total ^ (total >> 32)) & (size - 1)
        while table[slot] >= 0:
            row = table[slot]
            if sums[row] == total and _equal(bits, step, firsts[row]):
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot], sums[found], firsts[found] = found, total, step
            found += 1
        places[step] = table[slot]
    return places, firsts[:found].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def _equal(bits: Array, one: int, other: int) -> bool:
    """Whether two rows are equal; without a way out of the loop, so that it is vectorised."""
    different = 0
    for j in range(bits.shape[1]):
        different |= bits[one, j] ^ bits[other, j]
    return different == 0


@njit(cache=True, nogil=True, error_model="numpy")
def sum_by_row(gradient: Array, places: Array, mask: Array, first: int, last: int, sums: Array) -> None:
    """Add the gradients of all steps of a row, in some columns.

    Args:
        gradient: float32 (S, N). Of the product of each step; read at real ones.
        places: int32 (S,). The row of each real step.
        mask: bool (S,).
        first: int. First column.
        last: int. Column behind the last.
        sums: float32 (R, N). Zero in these columns at first; written there.
    """
    for step in range(mask.shape[0]):
        if mask[step]:
            into, what = sums[places[step], first:last], gradient[step, first:last]
            for j in range(last - first):
                into[j] += what[j]
