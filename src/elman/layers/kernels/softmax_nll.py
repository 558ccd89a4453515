"""Softmax and cross-entropy over a large vocabulary in one pass: the logits of all targets never exist at once.

A block of rows is multiplied with the vocabulary, turned into probabilities, scored, and turned into gradients while it
is still in the processor's cache. The usual way writes and reads the logits of all rows, (N, V) numbers, several times.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from elman.layers.kernels import buffers
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.matmul import (
    PANEL,
    add_product_of_columns,
    multiply_rows,
    pack_panels,
    pack_panels_transposed,
)
from elman.layers.kernels.threads import run_parts

# Rows whose logits stand side by side. More rows write the gradient of the matrix less often; fewer stay in the cache.
BLOCK_ROWS = 96
_ROUNDER = np.float32(12582912.0)  # 1.5 2^23: a float32 of this size has no places after the point
_OPTIONS = {"cache": True, "nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}


@intrinsic
def _power_of_two(typing_context, rounded):  # type: ignore[no-untyped-def]
    """Return 2^n as float32 for `rounded` = n + 1.5 2^23, whose lowest bits are those of n: shifted to the exponent."""
    del typing_context, rounded

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
        del context, signature
        whole = ir.IntType(32)
        bits = builder.shl(builder.bitcast(args[0], whole), whole(23))
        return builder.bitcast(builder.add(bits, whole(127 << 23)), ir.FloatType())

    return types.float32(types.float32), generate


@njit(**_OPTIONS)
def exp(x: np.float32) -> np.float32:
    """Return e^x for x <= 0 in float32: relative error below 2e-7; below -87 it stays at e^-87; NaN stays NaN.

    e^x = 2^n e^r with n the nearest whole number to x / ln 2. ln 2 is taken off in two parts, and e^r is the polynomial
    of Cephes' expf (Moshier 1989). The C library's function is a call for each number, which this is not.
    """
    x = np.float32(-87.0) if x < np.float32(-87.0) else x
    rounded = x * np.float32(1.44269504) + _ROUNDER
    n = rounded - _ROUNDER
    r = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    return (p * r * r + r + np.float32(1.0)) * _power_of_two(rounded)


# One loop a function, over rows that are contiguous: the form that the compiler turns into vector instructions.


@njit(**_OPTIONS)
def _add(row: Array, other: Array) -> None:
    for j in range(row.shape[0]):
        row[j] += other[j]


# A NaN may get lost here; it comes back in `_exp_of_difference`, and with it a sum that is not finite.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"}, error_model="numpy")
def _largest(row: Array) -> np.float32:
    largest = row[0]
    for j in range(row.shape[0]):
        largest = max(row[j], largest)
    return largest


@njit(**_OPTIONS)
def _exp_of_difference(row: Array, largest: np.float32) -> None:
    for j in range(row.shape[0]):
        row[j] = exp(row[j] - largest)


@njit(cache=True, nogil=True, fastmath={"reassoc"}, error_model="numpy")
def _sum(row: Array) -> np.float32:
    total = np.float32(0.0)
    for j in range(row.shape[0]):
        total += row[j]
    return total


@njit(**_OPTIONS)
def _scale(row: Array, factor: np.float32) -> None:
    for j in range(row.shape[0]):
        row[j] *= factor


@njit(**_OPTIONS)
def _score_rows(
    hidden: Array, first: int, last: int, panels: Array, back_panels: Array, bias: Array, targets: Array,
    gradients: bool, nll: Array, d_hidden: Array, d_matrix: Array, d_bias: Array,
) -> None:  # fmt: skip
    """Score rows first..last - 1, block by block.

    Args:
        hidden: float32 (N, U).
        first: int.
        last: int.
        panels: float32 (ceil(V / 16), U, 16). The matrix for the way to the logits.
        back_panels: float32 (ceil(U / 16), V, 16). The matrix for the way back.
        bias: float32 (V,).
        targets: int32 (N,).
        gradients: bool. Whether the gradients of the sum of nll are wanted.
        nll: float32 (N,). Written.
        d_hidden: float32 (N, >= U). Written.
        d_matrix: float32 (>= V, >= U). Added to.
        d_bias: float32 (V,). Added to.
    """
    size = bias.shape[0]
    logits = np.zeros((min(BLOCK_ROWS, last - first), panels.shape[0] * PANEL), dtype=np.float32)
    for start in range(first, last, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, last - start)
        multiply_rows(hidden[start : start + rows], 0, rows, panels, logits)
        for r in range(rows):
            row, target = logits[r, :size], targets[start + r]
            _add(row, bias)
            score, largest = row[target], _largest(row)
            _exp_of_difference(row, largest)
            total = _sum(row)
            nll[start + r] = np.log(total) + (largest - score)
            if gradients:
                _scale(row, np.float32(1.0) / total)
                row[target] -= np.float32(1.0)
                _add(d_bias, row)
        if gradients:
            multiply_rows(logits, 0, rows, back_panels, d_hidden[start : start + rows])
            add_product_of_columns(logits, 0, pack_panels(hidden[start : start + rows]), d_matrix)


def softmax_nll(
    hidden: Array, matrix: Array, bias: Array, targets: Array, *, gradients: bool, threads: int
) -> tuple[Array, Array, Array, Array]:
    """Score targets under softmax(hidden matrix^T + bias), with the gradients of the summed score.

    Args:
        hidden: float32 (N, U).
        matrix: float32 (V, U).
        bias: float32 (V,).
        targets: int32 (N,), each in 0..V-1.
        gradients: Whether the gradients are wanted; they are empty otherwise.
        threads: Rows are shared out to so many.

    Returns:
        float32 (N,) negative log-likelihoods in nats; and the gradients of their sum by hidden, matrix and bias.
    """
    (count, units), size = hidden.shape, matrix.shape[0]
    panels = pack_panels_transposed(matrix)
    back_panels = pack_panels(matrix) if gradients else np.empty((0, 0, PANEL), np.float32)
    nll = buffers.empty(count)
    width = -(-units // PANEL) * PANEL
    parts = max(1, min(threads, count // 8))
    edges = np.linspace(0, count, parts + 1).astype(np.int64)
    shape = (panels.shape[0] * PANEL, width) if gradients else (0, 0)
    d_hidden = buffers.empty(count if gradients else 0, width)
    d_matrix = [buffers.zeros(*shape) for _ in range(parts)]
    d_bias = [buffers.zeros(size) for _ in range(parts)]

    def work(part: int) -> None:
        _score_rows(
            hidden, edges[part], edges[part + 1], panels, back_panels, bias, targets,
            gradients, nll, d_hidden, d_matrix[part], d_bias[part],
        )  # fmt: skip

    run_parts(work, parts)
    for other in range(1, parts):  # always in this order: the sum is the same, to the last bit, in every run
        d_matrix[0] += d_matrix[other]
        d_bias[0] += d_bias[other]
    if not gradients:
        return nll, buffers.empty(0, units), buffers.empty(0, units), buffers.empty(0)
    return nll, np.ascontiguousarray(d_hidden[:, :units]), np.ascontiguousarray(d_matrix[0][:size, :units]), d_bias[0]
