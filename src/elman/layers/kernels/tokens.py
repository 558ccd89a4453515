"""The products over all real steps at once, which need no loop over time: x W, and the gradients of x, W and U.

Steps of padding take no part, so a batch of short and long rows costs what its tokens cost.
"""

import numpy as np
from numba import njit

from elman.layers.kernels.buffers import Array
from elman.layers.kernels.matmul import PANEL, add_product_of_columns, multiply_rows, pack_panels

_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}

# So many steps are multiplied at a time: their numbers stay in the processor's cache, and enough of them share the cost
# of packing.
RUN_LENGTH = 128


@njit(**_OPTIONS)
def plan_runs(mask: Array) -> Array:
    """Return the runs of real steps without a gap, cut to RUN_LENGTH: int64 (N, 3), each row, start, end."""
    batch, length = mask.shape
    runs = np.empty((batch * length, 3), dtype=np.int64)
    found = 0
    for row in range(batch):
        start = -1
        for time in range(length + 1):
            real = time < length and mask[row, time]
            if start >= 0 and (not real or time - start == RUN_LENGTH):
                runs[found, 0], runs[found, 1], runs[found, 2] = row, start, time
                found += 1
                start = -1
            if real and start < 0:
                start = time
    return runs[:found].copy()


@njit(**_OPTIONS)
def project_runs(x: Array, panels: Array, runs: Array, projected: Array) -> None:
    """Set `projected` to x W on the given runs.

    Args:
        x: float32 (B, T, D).
        panels: float32 (P, D, 16). W packed by `pack_panels`.
        runs: int64 (N, 3).
        projected: float32 (B, T, 16 P). Written on the runs.
    """
    for run in range(runs.shape[0]):
        row, start, end = runs[run]
        multiply_rows(x[row], start, end - start, panels, projected[row], False)


@njit(**_OPTIONS)
def gradient_runs(
    x: Array, previous_h: Array, d_projected: Array, d_inner: Array, inner_apart: bool, panels: Array, runs: Array,
    d_x: Array, d_kernel: Array, d_matrix: Array,
) -> None:  # fmt: skip
    """Set the gradient of x on the given runs, and add what they give to the gradients of W and U.

    Args:
        x: float32 (B, T, D).
        previous_h: float32 (B, T, U). State before each step.
        d_projected: float32 (B, T, N). Gradient of x W.
        d_inner: float32 (B, T, N). Gradient of h' U.
        inner_apart: bool. False where the two are the same.
        panels: float32 (P, N, 16). W packed by `pack_panels_transposed`.
        runs: int64 (R, 3).
        d_x: float32 (B, T, D). Written on the runs.
        d_kernel: float32 (D, 16 Q). Changed in place, like the next one.
        d_matrix: float32 (U, 16 Q).
    """
    width, padded = d_x.shape[2], panels.shape[0] * PANEL
    wide = np.empty((d_x.shape[1] if width != padded else 0, padded), dtype=np.float32)
    for run in range(runs.shape[0]):
        row, start, end = runs[run]
        steps = pack_panels(d_projected[row, start:end])
        add_product_of_columns(x[row], start, steps, d_kernel)
        if inner_apart:
            steps = pack_panels(d_inner[row, start:end])
        add_product_of_columns(previous_h[row], start, steps, d_matrix)
        if width == padded:
            multiply_rows(d_projected[row], start, end - start, panels, d_x[row], False)
        else:
            multiply_rows(d_projected[row], start, end - start, panels, wide, False)
            for time in range(start, end):
                for j in range(width):
                    d_x[row, time, j] = wide[time, j]
