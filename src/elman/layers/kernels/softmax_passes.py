"""The compiled work of `softmax_nll`: its two passes over rows and tiles, and what they are made of."""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from elman.layers.kernels.buffers import Array
from elman.layers.kernels.matmul import (
    PANEL,
    add_product_of_columns,
    multiply_rows,
    pack_panels,
)

BLOCK_ROWS = 96  # rows worked on together
# Words of a tile: an odd number of panels, since rows that lie an even number of cache lines apart would fight for the
# same places. Between 5 and 33 panels, times differ by less than a tenth.
TILE = 17 * PANEL
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


# A NaN may get lost here; it comes back in `_exp_and_sum`, and with it a sum that is not finite.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"}, error_model="numpy")
def _add_and_largest(row: Array, bias: Array) -> np.float32:
    largest = row[0] + bias[0]
    for j in range(row.shape[0]):
        value = row[j] + bias[j]
        row[j] = value
        largest = max(value, largest)
    return largest


@njit(cache=True, nogil=True, fastmath={"reassoc"}, error_model="numpy")
def _exp_and_sum(row: Array, largest: np.float32) -> np.float32:
    total = np.float32(0.0)
    for j in range(row.shape[0]):
        value = exp(row[j] - largest)
        row[j] = value
        total += value
    return total


@njit(**_OPTIONS)
def _add_scaled(row: Array, other: Array, factor: np.float32) -> None:
    for j in range(row.shape[0]):
        row[j] += other[j] * factor


@njit(**_OPTIONS)
def _scale_into(out: Array, row: Array, factor: np.float32) -> None:
    for j in range(row.shape[0]):
        out[j] = row[j] * factor


@njit(**_OPTIONS)
def _subtract(row: Array, other: Array) -> None:
    for j in range(row.shape[0]):
        row[j] -= other[j]


@njit(**_OPTIONS)
def score_rows(
    hidden: Array, first: int, last: int, panels: Array, bias: Array, targets: Array, keep: bool,
    nll: Array, kept: Array, factors: Array,
) -> None:  # fmt: skip
    """Score rows first..last - 1: the first pass.

    Args:
        hidden: float32 (N, U).
        first: int. A multiple of BLOCK_ROWS.
        last: int.
        panels: float32 (tiles P, U, 16). The matrix, zeros beyond V; a tile is P panels of 16 words.
        bias: float32 (V,).
        targets: int32 (N,).
        keep: bool. Whether `kept` and `factors` are wanted.
        nll: float32 (N,). Written.
        kept: float32 (tiles, N, 16 P). e, zeros beyond V; without `keep` work space (1, BLOCK_ROWS, 16 P).
        factors: float32 (tiles, N). Written: probability = e factor.
    """
    size, width = bias.shape[0], kept.shape[2]
    tile_panels, tiles = width // PANEL, (size + width - 1) // width
    largest, total, score = np.empty((3, BLOCK_ROWS), dtype=np.float32)
    for start in range(first, last, BLOCK_ROWS):
        rows = min(BLOCK_ROWS, last - start)
        largest[:], total[:] = np.float32(-np.inf), np.float32(0.0)
        for tile in range(tiles):
            begin, end = tile * width, min((tile + 1) * width, size)
            words = kept[tile, start : start + rows] if keep else kept[0]
            some = panels[tile * tile_panels : (tile + 1) * tile_panels]
            multiply_rows(hidden[start : start + rows], 0, rows, some, words, False)
            for r in range(rows):
                row, target = words[r, : end - begin], targets[start + r]
                before = largest[r]
                largest[r] = max(before, _add_and_largest(row, bias[begin:end]))
                if begin <= target < end:
                    score[r] = row[target - begin]
                total[r] = total[r] * np.exp(before - largest[r]) + _exp_and_sum(row, largest[r])
                if keep:
                    factors[tile, start + r] = largest[r]
        for r in range(rows):
            nll[start + r] = np.log(total[r]) + (largest[r] - score[r])
        if keep:
            for tile in range(tiles):
                for r in range(rows):
                    factors[tile, start + r] = np.exp(factors[tile, start + r] - largest[r]) / total[r]


@njit(**_OPTIONS)
def add_gradients(
    hidden: Array, matrix: Array, kept: Array, factors: Array, first: int, last: int, again: bool,
    d_hidden: Array, d_matrix: Array, d_bias: Array,
) -> None:  # fmt: skip
    """Add what tiles first..last - 1 give to the gradients of the summed score: the second pass.

    Args:
        hidden: float32 (N, U).
        matrix: float32 (V, U).
        kept: float32 (tiles, N, W). As `score_rows` wrote it, like the next one.
        factors: float32 (tiles, N).
        first: int.
        last: int.
        again: bool. Whether to add to `d_matrix` and `d_bias` what is not the first rows' part; else they are written.
        d_hidden: float32 (N, >= U). Added to.
        d_matrix: float32 (V, U). In the words of these tiles.
        d_bias: float32 (V,). Likewise.
    """
    (count, units), width, tile_width = hidden.shape, d_hidden.shape[1], kept.shape[2]
    scaled = np.empty((BLOCK_ROWS, units), dtype=np.float32)
    product = np.empty((BLOCK_ROWS, width), dtype=np.float32)
    packed = np.zeros((width // PANEL, tile_width, PANEL), dtype=np.float32)
    d_tile = np.empty((tile_width, width), dtype=np.float32)
    d_words = np.empty(tile_width, dtype=np.float32)
    for tile in range(first, last):
        begin = tile * tile_width
        some = matrix[begin : begin + tile_width]
        _pack_tile(some, packed)
        for word in range(tile_width):
            d_words[word] = np.float32(0.0)
            for k in range(width):
                d_tile[word, k] = np.float32(0.0)
        for start in range(0, count, BLOCK_ROWS):
            rows = min(BLOCK_ROWS, count - start)
            words = kept[tile, start : start + rows]
            multiply_rows(words, 0, rows, packed, product, False)
            for r in range(rows):
                factor = factors[tile, start + r]
                _add_scaled(d_hidden[start + r], product[r], factor)
                _scale_into(scaled[r], hidden[start + r], factor)
                _add_scaled(d_words, words[r], factor)
            add_product_of_columns(words, 0, pack_panels(scaled[:rows]), d_tile)
        for word in range(some.shape[0]):
            if again:
                _add_scaled(d_matrix[begin + word], d_tile[word, :units], np.float32(1.0))
                d_bias[begin + word] += d_words[word]
            else:
                _scale_into(d_matrix[begin + word], d_tile[word, :units], np.float32(1.0))
                d_bias[begin + word] = d_words[word]


@njit(**_OPTIONS)
def subtract_targets(
    hidden: Array, matrix: Array, targets: Array, d_hidden: Array, d_matrix: Array, d_bias: Array
) -> None:
    """Take the target's one off the gradients that hold the probabilities so far."""
    units = matrix.shape[1]
    for r in range(targets.shape[0]):
        _subtract(d_hidden[r, :units], matrix[targets[r]])
        _subtract(d_matrix[targets[r], :units], hidden[r])
        d_bias[targets[r]] -= np.float32(1.0)


@njit(**_OPTIONS)
def _pack_tile(some: Array, packed: Array) -> None:
    """Fill `packed`, float32 (P, W, 16), with the words `some` (at most W, U) as panels; zeros beyond both."""
    words, units = some.shape
    for panel in range(packed.shape[0]):
        for word in range(packed.shape[1]):
            for lane in range(PANEL):
                k = panel * PANEL + lane
                packed[panel, word, lane] = some[word, k] if word < words and k < units else np.float32(0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def pack_panels_of(matrix: Array, first: int, last: int, panels: Array) -> None:
    """Fill panels first..last - 1, each float32 (U, 16), of the transpose of `matrix` (V, U); zeros beyond V."""
    size, units = matrix.shape
    for panel in range(first, last):
        for lane in range(PANEL):
            word = panel * PANEL + lane
            for k in range(units):  # number by number: an assignment of arrays takes seconds to compile
                panels[panel, k, lane] = matrix[word, k] if word < size else np.float32(0.0)
