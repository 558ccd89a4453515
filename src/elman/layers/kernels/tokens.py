"""The products over all real steps at once, which need no loop over time: x W, and the gradients of x, W and U.

Steps of padding take no part, so a batch of short and long rows costs what its tokens cost. The steps of a batch are
seen as one list, row after row: rows without padding run into each other.
"""

import numpy as np
from numba import njit

from elman.layers.kernels.buffers import Array
from elman.layers.kernels.matmul import PANEL, add_product_of_columns, multiply_rows, pack_columns

_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}

# So many steps are multiplied at a time: their numbers stay in the processor's cache, and enough of them share the cost
# of packing and of adding to a gradient.
RUN_LENGTH = 144
# Numbers of the weights' gradients that are added to together; they stay in a cache of 512 kB.
_CACHED = 65_536


@njit(**_OPTIONS)
def plan_runs(mask: Array) -> Array:
    """Return the runs of real steps without a gap, cut evenly to at most RUN_LENGTH: int64 (N, 2), each start, end.

    Args:
        mask: bool (S,). True for a real step.
    """
    runs = np.empty((mask.shape[0] // 2 + mask.shape[0] // RUN_LENGTH + 1, 2), dtype=np.int64)
    found, start = 0, -1
    for step in range(mask.shape[0] + 1):
        real = step < mask.shape[0] and mask[step]
        if start >= 0 and not real:
            pieces = (step - start + RUN_LENGTH - 1) // RUN_LENGTH
            for piece in range(pieces):
                runs[found, 0] = start + (step - start) * piece // pieces
                runs[found, 1] = start + (step - start) * (piece + 1) // pieces
                found += 1
            start = -1
        if real and start < 0:
            start = step
    return runs[:found].copy()


@njit(**_OPTIONS)
def project_runs(x: Array, panels: Array, runs: Array, projected: Array) -> None:
    """Set `projected` to x W on the given runs.

    Args:
        x: float32 (S, D).
        panels: float32 (P, D, 16). W packed by `pack_panels`.
        runs: int64 (N, 2).
        projected: float32 (S, 16 P). Written on the runs.
    """
    for run in range(runs.shape[0]):
        start, end = runs[run]
        multiply_rows(x, start, end - start, panels, projected, False)


@njit(**_OPTIONS)
def input_gradient_runs(d_projected: Array, panels: Array, runs: Array, d_x: Array) -> None:
    """Set the gradient of x on the given runs.

    Args:
        d_projected: float32 (S, N). Gradient of x W.
        panels: float32 (P, N, 16). W packed by `pack_panels_transposed`.
        runs: int64 (R, 2).
        d_x: float32 (S, D). Written on the runs.
    """
    width, padded = d_x.shape[1], panels.shape[0] * PANEL
    wide = np.empty((d_x.shape[0] if width != padded else 0, padded), dtype=np.float32)
    for run in range(runs.shape[0]):
        start, end = runs[run]
        if width == padded:
            multiply_rows(d_projected, start, end - start, panels, d_x, False)
        else:
            multiply_rows(d_projected, start, end - start, panels, wide, False)
            for step in range(start, end):
                for j in range(width):
                    d_x[step, j] = wide[step, j]


@njit(**_OPTIONS)
def weight_gradient_columns(
    x: Array, x_runs: Array, d_projected: Array, previous_h: Array, h_runs: Array, d_inner: Array, shared: bool,
    first: int, last: int, d_kernel: Array, d_matrix: Array,
) -> None:  # fmt: skip
    """Set some columns of the gradients of W and U, from all runs.

    Args:
        x: float32 (R, D).
        x_runs: int64 (M, 2). Of the rows of x.
        d_projected: float32 (R, N). Gradient of x W.
        previous_h: float32 (S, U). State before each step.
        h_runs: int64 (L, 2). Of the steps.
        d_inner: float32 (S, N). Gradient of h' U.
        shared: bool. True where runs and gradients of the two are the same, so that one copy in panels serves both.
        first: int. First column, a multiple of 16.
        last: int. Column behind the last.
        d_kernel: float32 (D, N). Written in these columns, like the next one.
        d_matrix: float32 (U, N).
    """
    inputs, units = x.shape[1], previous_h.shape[1]
    group = max(PANEL, _CACHED // (inputs + units) // PANEL * PANEL)
    for begin in range(first, last, group):
        end = min(begin + group, last)
        padded = (end - begin + PANEL - 1) // PANEL * PANEL
        some_kernel = np.zeros((inputs, padded), dtype=np.float32)
        some_matrix = np.zeros((units, padded), dtype=np.float32)
        for run in range(h_runs.shape[0]):
            start, stop = h_runs[run]
            steps = pack_columns(d_inner, start, stop, begin, end)
            add_product_of_columns(previous_h, start, steps, some_matrix)
            if shared:
                add_product_of_columns(x, start, steps, some_kernel)
        if not shared:
            for run in range(x_runs.shape[0]):
                start, stop = x_runs[run]
                steps = pack_columns(d_projected, start, stop, begin, end)
                add_product_of_columns(x, start, steps, some_kernel)
        _copy_columns(some_kernel, begin, end, d_kernel)
        _copy_columns(some_matrix, begin, end, d_matrix)


@njit(**_OPTIONS)
def _copy_columns(some: Array, begin: int, end: int, out: Array) -> None:
    for k in range(out.shape[0]):
        for j in range(end - begin):
            out[k, begin + j] = some[k, j]
