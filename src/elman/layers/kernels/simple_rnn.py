"""Elman's network over whole sequences, forward and backward, for some rows of a batch: h = tanh(x W + h' U + b)."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from elman.layers.kernels.activations import tanh
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.cell import CellKernel, Plan, total
from elman.layers.kernels.matmul import PANEL, multiply_rows, pack_panels, pack_panels_transposed
from elman.layers.kernels.prefetch import prefetch
from elman.layers.kernels.schedule import add_output_gradients, fill_masked_outputs

_ONE = np.float32(1.0)
_OPTIONS = {"cache": True, "nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}


@njit(**_OPTIONS)
def _step_row(z: Array, x: Array, bias: Array, h: Array) -> None:
    """Move h (U) one step on, with z (U) from h' U and x (U) from the input."""
    for j in range(h.shape[0]):
        h[j] = tanh(z[j] + x[j] + bias[j])


@njit(**_OPTIONS)
def simple_rnn_forward(
    projected: Array, places: Array, bias: Array, panels: Array, h0: Array, positions: Array, counts: Array,
    rows: Array, backwards: bool, sequences: bool, zero_output: bool, save: bool, outputs: Array, last_h: Array,
    states: Array, previous_h: Array,
) -> None:  # fmt: skip
    """Work through the real steps of the rows named in `rows`, which come sorted by falling count.

    Args:
        projected: float32 (1, R, >= U). x W of different inputs, without the bias.
        places: int32 (B, T). Which of them a real step has, by time.
        bias: float32 (U,).
        panels: float32 (P, U, 16). U packed by `pack_panels`.
        h0: float32 (B, U).
        positions: int32 (B, T). From `plan_steps`, like the next two.
        counts: int64 (B,).
        rows: int64 (R,). Part of `order`.
        backwards: bool.
        sequences: bool. Whether `outputs` is wanted.
        zero_output: bool. Whether masked steps give zero instead of repeating the output before them.
        save: bool. Whether `states` and `previous_h` are wanted, for `simple_rnn_backward`.
        outputs: float32 (B, T, U). Written, by position.
        last_h: float32 (B, U). Written.
        states: float32 (B, T, U). Written, by time: h after the step; masked steps are left as they are.
        previous_h: float32 (B, T, U). Written, by time: h before the step; masked steps are left as they are.
    """
    length, units = places.shape[1], h0.shape[1]
    active = rows.shape[0]
    h = np.empty((active, units), dtype=np.float32)
    z = np.empty((active, panels.shape[0] * PANEL), dtype=np.float32)
    for r in range(active):
        for j in range(units):
            h[r, j] = h0[rows[r], j]
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
            _step_row(z[r], projected[0, places[row, time]], bias, h[r])
            if save:
                for j in range(units):
                    states[row, time, j] = h[r, j]
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
def _step_row_back(dz: Array, h: Array, dh: Array) -> None:
    """Set dz (U) from dh and the state h after the step."""
    for j in range(h.shape[0]):
        dz[j] = dh[j] * (_ONE - h[j] * h[j])


@njit(**_OPTIONS)
def simple_rnn_backward(
    panels: Array, states: Array, positions: Array, counts: Array, rows: Array, backwards: bool, sequences: bool,
    zero_output: bool, d_outputs: Array, d_last_h: Array, d_projected: Array, d_h0: Array, d_bias: Array,
) -> None:  # fmt: skip
    """Walk the real steps of some rows from the last to the first.

    Args:
        panels: float32 (P, U, 16). U packed by `pack_panels_transposed`.
        states: float32 (B, T, U). As `simple_rnn_forward` wrote it.
        positions: int32 (B, T).
        counts: int64 (B,).
        rows: int64 (R,).
        backwards: bool.
        sequences: bool. Whether `d_outputs` is given.
        zero_output: bool.
        d_outputs: float32 (B, T, U). By position.
        d_last_h: float32 (B, U).
        d_projected: float32 (B, T, U). Written, by time; masked steps are left as they are.
        d_h0: float32 (B, U). Written.
        d_bias: float32 (U,). The sum over these rows is added.
    """
    _, length, units = states.shape
    num_rows, active = rows.shape[0], 0
    dh = np.empty((num_rows, panels.shape[0] * PANEL), dtype=np.float32)
    dz = np.empty((num_rows, units), dtype=np.float32)
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
                prefetch(states, row, length - 1 - position if backwards else position)
                if sequences:
                    prefetch(d_outputs, row, position)
            _step_row_back(dz[r], states[row, time], dh[r])
            for j in range(units):
                d_projected[row, time, j] = dz[r, j]
            for j in range(units):
                d_bias[j] += dz[r, j]
        multiply_rows(dz, 0, active, panels, dh, False)
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
        lambda _, rows: simple_rnn_forward(
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
    del states, d_inner  # not needed; the same array as d_projected
    panels, d_bias = pack_panels_transposed(matrix), plan.sums(matrix.shape[1])
    plan.run(
        lambda part, rows: simple_rnn_backward(
            panels, saved[0], plan.positions, plan.counts, rows, *plan.flags,
            d_outputs, *d_last, d_projected, *d_states, d_bias[part],
        )
    )  # fmt: skip
    return total(d_bias)


SIMPLE_RNN_KERNEL = CellKernel(gates=1, states=1, saved=(1, 1), inner_apart=False, forward=_forward, backward=_backward)
