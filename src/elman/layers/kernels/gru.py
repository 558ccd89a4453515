"""GRU with the reset gate after the product, over whole sequences, forward and backward, for some rows of a batch.

With the gates in Keras' order, x' = x W + b (b the input bias) and q = h' U + e (e the recurrent bias, h' the state
before the step):

    z = sigmoid(x'_z + q_z)   r = sigmoid(x'_r + q_r)   g = tanh(x'_g + r q_g)   h = z h' + (1 - z) g
"""

from collections.abc import Sequence

import numpy as np
from numba import njit

from elman.layers.kernels.activations import sigmoid, tanh
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.cell import CellKernel, Plan, total
from elman.layers.kernels.matmul import PANEL, multiply_rows, pack_panels, pack_panels_transposed
from elman.layers.kernels.prefetch import prefetch
from elman.layers.kernels.schedule import add_output_gradients, fill_masked_outputs

_ONE = np.float32(1.0)
_OPTIONS = {"cache": True, "nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}


@njit(**_OPTIONS)
def _step_row(q: Array, inner: Array, x: Array, bias: Array, recurrent_bias: Array, h: Array) -> None:
    """Turn q (3U) from h' U into gate values in place, set inner (U) to q_g, and move h (U) one step on."""
    units = h.shape[0]
    q_zr, x_zr, bias_zr, recurrent_zr = q[: 2 * units], x[: 2 * units], bias[: 2 * units], recurrent_bias[: 2 * units]
    z, r, g = q_zr[:units], q_zr[units:], q[2 * units : 3 * units]
    x_g, bias_g, recurrent_g = x[2 * units : 3 * units], bias[2 * units :], recurrent_bias[2 * units :]
    for j in range(2 * units):
        q_zr[j] = sigmoid(q_zr[j] + recurrent_zr[j] + x_zr[j] + bias_zr[j])
    for j in range(units):
        inner[j] = g[j] + recurrent_g[j]
    for j in range(units):
        g[j] = x_g[j] + bias_g[j] + r[j] * inner[j]
    for j in range(units):
        g[j] = tanh(g[j])
    for j in range(units):
        h[j] = z[j] * h[j] + (_ONE - z[j]) * g[j]


@njit(**_OPTIONS)
def gru_forward(
    projected: Array, places: Array, bias: Array, panels: Array, h0: Array, positions: Array, counts: Array,
    rows: Array, backwards: bool, sequences: bool, zero_output: bool, save: bool, outputs: Array, last_h: Array,
    gates: Array, inners: Array, previous_h: Array,
) -> None:  # fmt: skip
    """Work through the real steps of the rows named in `rows`, which come sorted by falling count.

    Args:
        projected: float32 (1, R, >= 3U). x W of different inputs, without the bias.
        places: int32 (B, T). Which of them a real step has, by time.
        bias: float32 (2, 3U). Input bias, recurrent bias.
        panels: float32 (P, U, 16). U packed by `pack_panels`.
        h0: float32 (B, U).
        positions: int32 (B, T). From `plan_steps`, like the next two.
        counts: int64 (B,).
        rows: int64 (R,). Part of `order`.
        backwards: bool.
        sequences: bool. Whether `outputs` is wanted.
        zero_output: bool. Whether masked steps give zero instead of repeating the output before them.
        save: bool. Whether `gates`, `inners` and `previous_h` are wanted, for `gru_backward`.
        outputs: float32 (B, T, U). Written, by position.
        last_h: float32 (B, U). Written.
        gates: float32 (B, T, 3U). Written, by time; masked steps are left as they are.
        inners: float32 (B, T, U). q_g. Written, by time; masked steps are left as they are.
        previous_h: float32 (B, T, U). Written, by time: h before the step; masked steps are left as they are.
    """
    length, units = places.shape[1], h0.shape[1]
    active = rows.shape[0]
    h = np.empty((active, units), dtype=np.float32)
    inner = np.empty(units, dtype=np.float32)
    q = np.empty((active, panels.shape[0] * PANEL), dtype=np.float32)
    for r in range(active):
        for j in range(units):
            h[r, j] = h0[rows[r], j]
    for step in range(counts[rows[0]]):
        while counts[rows[active - 1]] <= step:
            active -= 1
        multiply_rows(h, 0, active, panels, q, False)
        for r in range(active):
            row = rows[r]
            position = positions[row, step]
            time = length - 1 - position if backwards else position
            if step + 1 < counts[row]:
                following = positions[row, step + 1]
                prefetch(projected, 0, places[row, length - 1 - following if backwards else following])
            if save:
                for j in range(units):
                    previous_h[row, time, j] = h[r, j]
            _step_row(q[r], inner, projected[0, places[row, time]], bias[0], bias[1], h[r])
            if save:
                for j in range(3 * units):
                    gates[row, time, j] = q[r, j]
                for j in range(units):
                    inners[row, time, j] = inner[j]
            if sequences:
                for j in range(units):
                    outputs[row, position, j] = h[r, j]
    for r in range(rows.shape[0]):
        row = rows[r]
        for j in range(units):
            last_h[row, j] = h[r, j]
        if sequences and counts[row] < length:
            fill_masked_outputs(outputs, positions, counts[row], row, zero_output)


@njit(**_OPTIONS)
def _step_row_back(dx: Array, dq: Array, gates: Array, inner: Array, before: Array, dh: Array) -> None:
    """Set dx and dq (3U) from dh (U), and leave in dh what reaches h' past the product; `before` is h'."""
    units = dh.shape[0]
    z, r, g = gates[:units], gates[units : 2 * units], gates[2 * units :]
    dx_z, dx_r, dx_g = dx[:units], dx[units : 2 * units], dx[2 * units :]
    dq_zr, dq_g = dq[: 2 * units], dq[2 * units :]
    for j in range(units):
        dx_z[j] = dh[j] * (before[j] - g[j]) * z[j] * (_ONE - z[j])
    for j in range(units):
        dx_g[j] = dh[j] * (_ONE - z[j]) * (_ONE - g[j] * g[j])
    for j in range(units):
        dx_r[j] = dx_g[j] * inner[j] * r[j] * (_ONE - r[j])
    for j in range(2 * units):
        dq_zr[j] = dx[j]
    for j in range(units):
        dq_g[j] = dx_g[j] * r[j]
    for j in range(units):
        dh[j] *= z[j]


@njit(**_OPTIONS)
def gru_backward(
    panels: Array, gates: Array, inners: Array, previous_h: Array, positions: Array, counts: Array, rows: Array,
    backwards: bool, sequences: bool, zero_output: bool, d_outputs: Array, d_last_h: Array, d_projected: Array,
    d_inner: Array, d_h0: Array, d_bias: Array,
) -> None:  # fmt: skip
    """Walk the real steps of some rows from the last to the first.

    Args:
        panels: float32 (P, 3U, 16). U packed by `pack_panels_transposed`.
        gates: float32 (B, T, 3U). As `gru_forward` wrote it, like the next two.
        inners: float32 (B, T, U).
        previous_h: float32 (B, T, U).
        positions: int32 (B, T).
        counts: int64 (B,).
        rows: int64 (R,).
        backwards: bool.
        sequences: bool. Whether `d_outputs` is given.
        zero_output: bool.
        d_outputs: float32 (B, T, U). By position.
        d_last_h: float32 (B, U).
        d_projected: float32 (B, T, 3U). Gradient of x W. Written, by time; masked steps are left as they are.
        d_inner: float32 (B, T, 3U). Gradient of h' U. Written, by time; masked steps are left as they are.
        d_h0: float32 (B, U). Written.
        d_bias: float32 (2, 3U). The sum over these rows is added.
    """
    length, units = gates.shape[1], previous_h.shape[2]
    num_rows, active = rows.shape[0], 0
    dh = np.empty((num_rows, units), dtype=np.float32)
    through_product = np.empty((num_rows, panels.shape[0] * PANEL), dtype=np.float32)
    dq = np.empty((num_rows, 3 * units), dtype=np.float32)
    for r in range(num_rows):
        row = rows[r]
        for j in range(units):
            dh[r, j] = d_last_h[row, j]
    for step in range(counts[rows[0]] - 1, -1, -1):
        while active < num_rows and counts[rows[active]] > step:
            active += 1
        for r in range(active):
            row = rows[r]
            position = positions[row, step]
            time = length - 1 - position if backwards else position
            if sequences:
                add_output_gradients(dh, r, d_outputs, positions, counts[row], row, step, zero_output)
            if step > 0:
                position = positions[row, step - 1]
                earlier = length - 1 - position if backwards else position
                prefetch(gates, row, earlier)
                prefetch(inners, row, earlier)
                prefetch(previous_h, row, earlier)
                if sequences:
                    prefetch(d_outputs, row, position)
            dx = d_projected[row, time]
            _step_row_back(dx, dq[r], gates[row, time], inners[row, time], previous_h[row, time], dh[r])
            for j in range(3 * units):
                d_inner[row, time, j] = dq[r, j]
            for j in range(3 * units):
                d_bias[0, j] += dx[j]
            for j in range(3 * units):
                d_bias[1, j] += dq[r, j]
        multiply_rows(dq, 0, active, panels, through_product, False)
        for r in range(active):
            for j in range(units):
                dh[r, j] += through_product[r, j]
    for r in range(num_rows):
        for j in range(units):
            d_h0[rows[r], j] = dh[r, j]


def _forward(
    plan: Plan,
    keep: bool,
    projected: Array,
    places: Array,
    matrix: Array,
    bias: Array,
    states: Sequence[Array],
    outputs: Array,
    last: Sequence[Array],
    saved: Sequence[Array],
) -> None:
    panels = pack_panels(matrix)
    plan.run(
        lambda _, rows: gru_forward(
            projected, places, bias, panels, *states, plan.positions, plan.counts, rows, *plan.flags, keep,
            outputs, *last, *saved,
        )
    )  # fmt: skip


def _backward(
    plan: Plan,
    matrix: Array,
    states: Sequence[Array],
    saved: Sequence[Array],
    d_outputs: Array,
    d_last: Sequence[Array],
    d_projected: Array,
    d_inner: Array,
    d_states: Sequence[Array],
) -> Array:
    del states  # saved as the first of the previous states
    panels, d_bias = pack_panels_transposed(matrix), plan.sums(2, matrix.shape[1])
    plan.run(
        lambda part, rows: gru_backward(
            panels, *saved, plan.positions, plan.counts, rows, *plan.flags,
            d_outputs, *d_last, d_projected, d_inner, *d_states, d_bias[part],
        )
    )  # fmt: skip
    return total(d_bias)


GRU_KERNEL = CellKernel(gates=3, states=1, saved=(3, 1, 1), inner_apart=True, forward=_forward, backward=_backward)
