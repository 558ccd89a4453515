"""A product of a few rows with a fixed matrix, kept fast by packing the matrix once a sequence.

A recurrent step multiplies the states of a few rows by the same matrix at every time step. A BLAS call would repack
that matrix at each step and bring a thread pool of its own, which spins on the cores that TensorFlow needs. Here the
matrix is packed once into panels of 16 columns, and the inner product is a register block (rows x 16 columns) written
with the vector types of LLVM, because the compiler does not keep a block of sums in registers from a loop in Python.

Each output is one chain of multiply-adds over k in order, whatever the number of rows: the result of a row does not
depend, to the last bit, on which other rows stand in the batch.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from elman.layers.kernels.buffers import Array

PANEL = 16
_LANES = 8  # float32 lanes of one vector; the compiler splits or joins them for other machines
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_INDEX = ir.IntType(64)
_FUSE = ("contract",)  # lets a product and a sum become one fused operation


@njit(cache=True, nogil=True, error_model="numpy")
def pack_panels(matrix: Array) -> Array:
    """Return `matrix` (K, N) as panels (ceil(N / 16), K, 16), the last one filled up with zeros."""
    rows, columns = matrix.shape
    panels = np.zeros(((columns + PANEL - 1) // PANEL, rows, PANEL), dtype=np.float32)
    for k in range(rows):
        for j in range(columns):
            panels[j // PANEL, k, j % PANEL] = matrix[k, j]
    return panels


@njit(cache=True, nogil=True, error_model="numpy")
def pack_panels_transposed(matrix: Array) -> Array:
    """Return the transpose of `matrix` (N, K) as panels (ceil(N / 16), K, 16)."""
    columns, rows = matrix.shape
    panels = np.zeros(((columns + PANEL - 1) // PANEL, rows, PANEL), dtype=np.float32)
    for j in range(columns):
        for k in range(rows):
            panels[j // PANEL, k, j % PANEL] = matrix[j, k]
    return panels


def _register_block(num_rows: int, num_panels: int) -> Any:
    """Make the intrinsic `block(a, row, panels, panel, out)`, which sets one block of `out` = `a` times the panels.

    out[row + r, 16 panel + c] = sum_k a[row + r, k] panels[panel, k, c] for r < num_rows and c < 16 num_panels.
    """

    @intrinsic
    def block(typing_context, a, row, panels, panel, out):  # type: ignore[no-untyped-def]
        del typing_context, row, panel  # the two numbers become intp

        def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
            arrays = [context.make_array(signature.args[place])(context, builder, args[place]) for place in (0, 2, 4)]
            _emit_block(builder, arrays, (args[1], args[3]), num_rows=num_rows, num_panels=num_panels)
            return context.get_dummy_value()

        return types.void(a, types.intp, panels, types.intp, out), generate

    return block


def _emit_block(
    builder: ir.IRBuilder, arrays: list[Any], place: tuple[ir.Value, ir.Value], *, num_rows: int, num_panels: int
) -> None:
    """Emit the block: one sum in a register for each row and 8 columns, a loop over k, then the stores."""
    (a, panels, out), (row, panel) = arrays, place
    depth = _size(builder, panels, 1)
    panel_length = builder.mul(depth, _INDEX(PANEL))
    rows = [_row(builder, a, builder.add(row, _INDEX(r))) for r in range(num_rows)]
    bases = [
        builder.gep(panels.data, [builder.mul(builder.add(panel, _INDEX(p)), panel_length)]) for p in range(num_panels)
    ]
    places = [(base, part * _LANES) for base in bases for part in range(PANEL // _LANES)]
    sums = [[cgutils.alloca_once_value(builder, _VECTOR(None)) for _ in places] for _ in rows]
    with cgutils.for_range(builder, depth) as loop:
        line = builder.mul(loop.index, _INDEX(PANEL))
        weights = [
            builder.load(_vector_at(builder, base, builder.add(line, _INDEX(first))), align=4) for base, first in places
        ]
        for start, row_sums in zip(rows, sums, strict=True):
            value = _in_all_lanes(builder, builder.load(builder.gep(start, [loop.index])))
            for weight, total in zip(weights, row_sums, strict=True):
                product = builder.fmul(value, weight, flags=_FUSE)
                builder.store(builder.fadd(builder.load(total), product, flags=_FUSE), total)
    first_column = builder.mul(panel, _INDEX(PANEL))
    for r, row_sums in enumerate(sums):
        start = builder.gep(_row(builder, out, builder.add(row, _INDEX(r))), [first_column])
        for part, total in enumerate(row_sums):
            builder.store(builder.load(total), _vector_at(builder, start, _INDEX(part * _LANES)), align=4)


def _size(builder: ir.IRBuilder, array: Any, axis: int) -> ir.Value:
    return builder.extract_value(array.shape, axis)


def _row(builder: ir.IRBuilder, array: Any, row: ir.Value) -> ir.Value:
    """Return the address of the first number in a row of a two-dimensional array."""
    return builder.gep(array.data, [builder.mul(row, _size(builder, array, 1))])


def _vector_at(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value) -> ir.Value:
    return builder.bitcast(builder.gep(base, [offset]), _VECTOR.as_pointer())


def _in_all_lanes(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    undefined = _VECTOR(ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, undefined, ir.VectorType(ir.IntType(32), _LANES)(None))


_block_6x1 = _register_block(6, 1)
_block_5x1 = _register_block(5, 1)
_block_4x1 = _register_block(4, 1)
_block_3x1 = _register_block(3, 1)
_block_2x1 = _register_block(2, 1)
_block_1x1 = _register_block(1, 1)
_block_1x4 = _register_block(1, 4)


@njit(cache=True, nogil=True, error_model="numpy")
def _count_sixes(num_rows: int) -> int:
    """Return how many blocks of 6 rows to use: a lone row or pair left over costs as much as a block of 4."""
    sixes = num_rows // 6
    return sixes - 1 if 1 <= num_rows % 6 <= 3 and sixes > 0 else sixes


@njit(cache=True, nogil=True, error_model="numpy")
def multiply_rows(a: Array, num_rows: int, panels: Array, out: Array) -> None:
    """Set the first `num_rows` rows of `out` (R, 16 P) to those of `a` (R, K) times `panels` (P, K, 16)."""
    num_panels = panels.shape[0]
    panel = 0
    if num_rows == 1:
        while panel + 4 <= num_panels:
            _block_1x4(a, 0, panels, panel, out)
            panel += 4
    sixes = _count_sixes(num_rows)
    while panel < num_panels:
        row = 0
        for _ in range(sixes):
            _block_6x1(a, row, panels, panel, out)
            row += 6
        rest = num_rows - row
        if rest == 9 or rest == 5:
            _block_5x1(a, row, panels, panel, out)
            row += 5
        elif rest == 8 or rest == 7 or rest == 4:
            _block_4x1(a, row, panels, panel, out)
            row += 4
        rest = num_rows - row
        if rest == 4:
            _block_4x1(a, row, panels, panel, out)
        elif rest == 3:
            _block_3x1(a, row, panels, panel, out)
        elif rest == 2:
            _block_2x1(a, row, panels, panel, out)
        elif rest == 1:
            _block_1x1(a, row, panels, panel, out)
        panel += 1
