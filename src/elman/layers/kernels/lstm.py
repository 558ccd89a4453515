"""LSTM over whole sequences, forward and backward, for some rows of a batch.

With the gates in Keras' order and z = x W + h' U + b (h', c' are the state before the step):

    i = sigmoid(z_i)   f = sigmoid(z_f)   g = tanh(z_g)   o = sigmoid(z_o)
    c = f c' + i g     h = o tanh(c)

The loops over units are many and short on purpose: with one array written in each, the compiler can prove that it may
vectorise them.
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
def _step_row(z: Array, x: Array, bias: Array, h: Array, c: Array) -> None:
    """Turn z (4U) from h' U into gate values in place, and move h and c (U) one step on; x (4U) is the input's part."""
    units = h.shape[0]
    z_if, x_if, bias_if = z[: 2 * units], x[: 2 * units], bias[: 2 * units]
    z_g, x_g, bias_g = z[2 * units : 3 * units], x[2 * units : 3 * units], bias[2 * units : 3 * units]
    z_o, x_o, bias_o = z[3 * units : 4 * units], x[3 * units : 4 * units], bias[3 * units : 4 * units]
    z_i, z_f = z_if[:units], z_if[units:]
    for j in range(2 * units):
        z_if[j] = sigmoid(z_if[j] + x_if[j] + bias_if[j])
    for j in range(units):
        z_g[j] = tanh(z_g[j] + x_g[j] + bias_g[j])
    for j in range(units):
        z_o[j] = sigmoid(z_o[j] + x_o[j] + bias_o[j])
    for j in range(units):
        c[j] = z_f[j] * c[j] + z_i[j] * z_g[j]
    for j in range(units):
        h[j] = z_o[j] * tanh(c[j])


@njit(**_OPTIONS)
def lstm_forward(
    projected: Array, places: Array, bias: Array, panels: Array, h0: Array, c0: Array, positions: Array, counts: Array,
    rows: Array, backwards: bool, sequences: bool, zero_output: bool, save: bool, outputs: Array, last_h: Array,
    last_c: Array, gates: Array, cells: Array, previous_h: Array,
) -> None:  # fmt: skip
    """Work through the real steps of the rows named in `rows`, which come sorted by falling count.

    Args:
        projected: float32 (1, R, >= 4U). x W of different inputs, without the bias.
        places: int32 (B, T). Which of them a real step has, by time.
        bias: float32 (4U,).
        panels: float32 (P, U, 16). U packed by `pack_panels`.
        h0: float32 (B, U).
        c0: float32 (B, U).
        positions: int32 (B, T). From `plan_steps`, like the next two.
        counts: int64 (B,).
        rows: int64 (R,). Part of `order`.
        backwards: bool.
        sequences: bool. Whether `outputs` is wanted.
        zero_output: bool. Whether masked steps give zero instead of repeating the output before them.
        save: bool. Whether `gates`, `cells` and `previous_h` are wanted, for `lstm_backward`.
        outputs: float32 (B, T, U). Written, by position.
        last_h: float32 (B, U). Written.
        last_c: float32 (B, U). Written.
        gates: float32 (B, T, 4U). Written, by time; masked steps are left as they are.
        cells: float32 (B, T, U). Written, by time: c after the step; masked steps are left as they are.
        previous_h: float32 (B, T, U). Written, by time: h before the step; masked steps are left as they are.
    """
    length, units = places.shape[1], h0.shape[1]
    active = rows.shape[0]
    h = np.empty((active, units), dtype=np.float32)
    c = np.empty((active, units), dtype=np.float32)
    z = np.empty((active, panels.shape[0] * PANEL), dtype=np.float32)
    for r in range(active):
        for j in range(units):
            h[r, j] = h0[rows[r], j]
        for j in range(units):
            c[r, j] = c0[rows[r], j]
    for step in range(counts[rows[0]]):
        while counts[rows[active - 1]] <= step:
            active -= 1
        multiply_rows(h, 0, active, panels, z, False)
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
            _step_row(z[r], projected[0, places[row, time]], bias, h[r], c[r])
            if save:
                for j in range(4 * units):
                    gates[row, time, j] = z[r, j]
                for j in range(units):
                    cells[row, time, j] = c[r, j]
            if sequences:
                for j in range(units):
                    outputs[row, position, j] = h[r, j]
    for r in range(rows.shape[0]):
        row = rows[r]
        for j in range(units):
            last_h[row, j] = h[r, j]
        for j in range(units):
            last_c[row, j] = c[r, j]
        if sequences and counts[row] < length:
            fill_masked_outputs(outputs, positions, counts[row], row, zero_output)


@njit(**_OPTIONS)
def _step_row_back(dz: Array, gates: Array, cell: Array, before: Array, dh: Array, dc: Array) -> None:
    """Set dz (4U) from dh and dc (U), and move dc one step back; `cell` is c, overwritten, and `before` is c' (U)."""
    units = before.shape[0]
    i, f, g, o = gates[:units], gates[units : 2 * units], gates[2 * units : 3 * units], gates[3 * units :]
    dz_i, dz_f, dz_g, dz_o = dz[:units], dz[units : 2 * units], dz[2 * units : 3 * units], dz[3 * units :]
    for j in range(units):
        cell[j] = tanh(cell[j])
    for j in range(units):
        dz_o[j] = dh[j] * cell[j] * o[j] * (_ONE - o[j])
    for j in range(units):
        dc[j] += dh[j] * o[j] * (_ONE - cell[j] * cell[j])
    for j in range(units):
        dz_i[j] = dc[j] * g[j] * i[j] * (_ONE - i[j])
    for j in range(units):
        dz_f[j] = dc[j] * before[j] * f[j] * (_ONE - f[j])
    for j in range(units):
        dz_g[j] = dc[j] * i[j] * (_ONE - g[j] * g[j])
    for j in range(units):
        dc[j] *= f[j]


@njit(**_OPTIONS)
def lstm_backward(
    panels: Array, gates: Array, cells: Array, c0: Array, positions: Array, counts: Array, rows: Array,
    backwards: bool, sequences: bool, zero_output: bool, d_outputs: Array, d_last_h: Array, d_last_c: Array,
    d_projected: Array, d_h0: Array, d_c0: Array, d_bias: Array,
) -> None:  # fmt: skip
    """Walk the real steps of some rows from the last to the first.

    Args:
        panels: float32 (P, 4U, 16). U packed by `pack_panels_transposed`.
        gates: float32 (B, T, 4U). As `lstm_forward` wrote it, like the next one.
        cells: float32 (B, T, U).
        c0: float32 (B, U).
        positions: int32 (B, T).
        counts: int64 (B,).
        rows: int64 (R,).
        backwards: bool.
        sequences: bool. Whether `d_outputs` is given.
        zero_output: bool.
        d_outputs: float32 (B, T, U). By position.
        d_last_h: float32 (B, U).
        d_last_c: float32 (B, U).
        d_projected: float32 (B, T, 4U). Written, by time; masked steps are left as they are.
        d_h0: float32 (B, U). Written.
        d_c0: float32 (B, U). Written.
        d_bias: float32 (4U,). The sum over these rows is added.
    """
    length, units = gates.shape[1], c0.shape[1]
    num_rows, active = rows.shape[0], 0
    dh = np.empty((num_rows, panels.shape[0] * PANEL), dtype=np.float32)
    dc = np.empty((num_rows, units), dtype=np.float32)
    dz = np.empty((num_rows, 4 * units), dtype=np.float32)
    cell = np.empty(units, dtype=np.float32)
    before = np.empty(units, dtype=np.float32)
    for r in range(num_rows):
        row = rows[r]
        for j in range(units):
            dh[r, j] = d_last_h[row, j]
        for j in range(units):
            dc[r, j] = d_last_c[row, j]
    for step in range(counts[rows[0]] - 1, -1, -1):
        while active < num_rows and counts[rows[active]] > step:
            active += 1
        for r in range(active):
            row = rows[r]
            position = positions[row, step]
            time = length - 1 - position if backwards else position
            if sequences:
                add_output_gradients(dh, r, d_outputs, positions, counts[row], row, step, zero_output)
            for j in range(units):
                cell[j] = cells[row, time, j]
            if step == 0:
                for j in range(units):
                    before[j] = c0[row, j]
            else:
                position = positions[row, step - 1]
                earlier = length - 1 - position if backwards else position
                prefetch(gates, row, earlier)
                if sequences:
                    prefetch(d_outputs, row, position)
                if step > 1:
                    position = positions[row, step - 2]
                    prefetch(cells, row, length - 1 - position if backwards else position)
                for j in range(units):
                    before[j] = cells[row, earlier, j]
            _step_row_back(dz[r], gates[row, time], cell, before, dh[r], dc[r])
            for j in range(4 * units):
                d_projected[row, time, j] = dz[r, j]
            for j in range(4 * units):
                d_bias[j] += dz[r, j]
        multiply_rows(dz, 0, active, panels, dh, False)
    for r in range(num_rows):
        for j in range(units):
            d_h0[rows[r], j] = dh[r, j]
        for j in range(units):
            d_c0[rows[r], j] = dc[r, j]


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
        lambda _, rows: lstm_forward(
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
    del d_inner  # the same array as d_projected
    gates, cells, _ = saved
    panels, d_bias = pack_panels_transposed(matrix), plan.sums(matrix.shape[1])
    plan.run(
        lambda part, rows: lstm_backward(
            panels, gates, cells, states[1], plan.positions, plan.counts, rows, *plan.flags,
            d_outputs, *d_last, d_projected, *d_states, d_bias[part],
        )
    )  # fmt: skip
    return total(d_bias)


LSTM_KERNEL = CellKernel(gates=4, states=2, saved=(4, 1, 1), inner_apart=False, forward=_forward, backward=_backward)
