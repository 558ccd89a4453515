"""Matrix products made for recurrent layers: the matrix packed once a sequence, a few rows at a time.

A recurrent step multiplies the states of a few rows by the same matrix at every time step. A BLAS call would repack
that matrix at each step and bring a thread pool of its own, which spins on the cores that TensorFlow needs. Here the
matrix is packed once into panels of 16 columns, and the inner product is a register block (rows x 16 columns) written
with the vector types of LLVM, because the compiler does not keep a block of sums in registers from a loop in Python.

Each output is one chain of multiply-adds over k in order, whatever the number of rows: the result of a row does not
depend, to the last bit, on which other rows stand in the batch.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from elman.layers.kernels.buffers import Array

PANEL = 16
_LANES = 8  # float32 lanes of one vector; the compiler splits or joins them for other machines
_PARTS = PANEL // _LANES
_VECTOR = ir.VectorType(ir.FloatType(), _LANES)
_INDEX = ir.IntType(64)
# So many columns of a result, a few kilobytes each, stay in the nearest cache while panel after panel adds to them.
_ROWS_AT_ONCE = 36
# Numbers of `a` that stay in the second cache while panel after panel is multiplied with them.
_CACHED = 36_000
_FUSE = ("contract",)  # lets a product and a sum become one fused operation


@njit(cache=True, nogil=True, error_model="numpy")
def pack_panels(matrix: Array) -> Array:
    """Return `matrix` (K, N) as panels (ceil(N / 16), K, 16), the last one filled up with zeros."""
    return pack_columns(matrix, 0, matrix.shape[0], 0, matrix.shape[1])


@njit(cache=True, nogil=True, error_model="numpy")
def pack_columns(matrix: Array, start: int, stop: int, begin: int, end: int) -> Array:
    """Return matrix[start:stop, begin:end] as panels, the last one filled up with zeros."""
    rows, columns = stop - start, end - begin
    panels = np.empty(((columns + PANEL - 1) // PANEL, rows, PANEL), dtype=np.float32)
    for k in range(rows):  # outside: a row is read from one end to the other, which the processor foresees
        for panel in range(columns // PANEL):
            for j in range(PANEL):
                panels[panel, k, j] = matrix[start + k, begin + panel * PANEL + j]
    rest = columns % PANEL
    if rest:
        for k in range(rows):
            for j in range(PANEL):
                panels[panels.shape[0] - 1, k, j] = 0.0
        for k in range(rows):
            for j in range(rest):
                panels[-1, k, j] = matrix[start + k, end - rest + j]
    return panels


@njit(cache=True, nogil=True, error_model="numpy")
def pack_panels_transposed(matrix: Array) -> Array:
    """Return the transpose of `matrix` (N, K) as panels (ceil(N / 16), K, 16)."""
    columns, rows = matrix.shape
    panels = np.zeros(((columns + PANEL - 1) // PANEL, rows, PANEL), dtype=np.float32)
    for panel in range(panels.shape[0]):
        for j in range(min(PANEL, columns - panel * PANEL)):
            for k in range(rows):
                panels[panel, k, j] = matrix[panel * PANEL + j, k]
    return panels


def _register_block(num_rows: int, num_panels: int = 1, *, transposed: bool = False) -> Any:
    """Make the intrinsic `block(a, first, row, panels, panel, out, adding)`, one block of a product kept in registers.

    For r < num_rows and c < 16 num_panels, either

        out[first + row + r, 16 panel + c] = sum_k a[first + row + r, k] panels[panel, k, c], or transposed
        out[row + r, 16 panel + c]         = sum_k a[first + k, row + r] panels[panel, k, c]

    where the sum goes on from what stands in `out` if `adding` is true.
    """

    @intrinsic
    def block(typing_context, a, first, row, panels, panel, out, adding):  # type: ignore[no-untyped-def]
        del typing_context, first, row, panel, adding  # the three numbers become intp

        def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
            arrays = [context.make_array(signature.args[place])(context, builder, args[place]) for place in (0, 3, 5)]
            place = _Place(first=args[1], row=args[2], panel=args[4], adding=args[6])
            _emit_block(builder, arrays, place, size=(num_rows, num_panels), transposed=transposed)
            return context.get_dummy_value()

        return types.void(a, types.intp, types.intp, panels, types.intp, out, types.boolean), generate

    return block


class _Place(NamedTuple):
    """Where a block stands: values of the program that is being emitted."""

    first: ir.Value
    row: ir.Value
    panel: ir.Value
    adding: ir.Value


def _emit_block(
    builder: ir.IRBuilder, arrays: list[Any], place: _Place, *, size: tuple[int, int], transposed: bool
) -> None:
    """Emit the block: one sum in a register for each row and 8 columns, a loop over k, then the stores."""
    (a, panels, out), (num_rows, num_panels) = arrays, size
    depth = _size(builder, panels, 1)
    a_width = builder.sdiv(builder.extract_value(a.strides, 0), _INDEX(4))  # a part of the columns has a wider stride
    places = [(_offset(builder, place.panel, p), part * _LANES) for p in range(num_panels) for part in range(_PARTS)]
    panel_length = builder.mul(depth, _INDEX(PANEL))
    bases = [builder.gep(panels.data, [builder.mul(panel, panel_length)]) for panel, _ in places]
    start = place.first if transposed else builder.add(place.first, place.row)
    targets = _targets(builder, out, place.row if transposed else start, places, num_rows=num_rows)
    # What stands in `out` is read in either case, so that the choice is one instruction and no jump.
    sums = [
        [
            cgutils.alloca_once_value(
                builder, builder.select(place.adding, builder.load(target, align=4), _VECTOR([0.0] * _LANES))
            )
            for target in row_targets
        ]
        for row_targets in targets
    ]
    values = builder.gep(a.data, [builder.mul(start, a_width)])
    with cgutils.for_range(builder, depth) as loop:
        line = builder.mul(loop.index, _INDEX(PANEL))
        weights = [
            builder.load(_vector_at(builder, base, _offset(builder, line, lane)), align=4)
            for base, (_, lane) in zip(bases, places, strict=True)
        ]
        for r, row_sums in enumerate(sums):
            if transposed:
                index = builder.add(builder.mul(loop.index, a_width), _offset(builder, place.row, r))
            else:
                index = builder.add(builder.mul(_INDEX(r), a_width), loop.index)
            value = _in_all_lanes(builder, builder.load(builder.gep(values, [index])))
            for weight, total in zip(weights, row_sums, strict=True):
                product = builder.fmul(value, weight, flags=_FUSE)
                builder.store(builder.fadd(builder.load(total), product, flags=_FUSE), total)
    for row_targets, row_sums in zip(targets, sums, strict=True):
        for target, total in zip(row_targets, row_sums, strict=True):
            builder.store(builder.load(total), target, align=4)


def _targets(
    builder: ir.IRBuilder, out: Any, first: ir.Value, places: list[tuple[ir.Value, int]], *, num_rows: int
) -> list[list[ir.Value]]:
    """Return where each sum of a block belongs."""
    width = _size(builder, out, 1)
    targets = []
    for r in range(num_rows):
        row_start = builder.mul(_offset(builder, first, r), width)
        columns = [_offset(builder, builder.mul(panel, _INDEX(PANEL)), lane) for panel, lane in places]
        targets.append([_vector_at(builder, out.data, builder.add(row_start, column)) for column in columns])
    return targets


def _size(builder: ir.IRBuilder, array: Any, axis: int) -> ir.Value:
    return builder.extract_value(array.shape, axis)


def _offset(builder: ir.IRBuilder, value: ir.Value, constant: int) -> ir.Value:
    return builder.add(value, _INDEX(constant))


def _vector_at(builder: ir.IRBuilder, base: ir.Value, offset: ir.Value) -> ir.Value:
    return builder.bitcast(builder.gep(base, [offset]), _VECTOR.as_pointer())


def _in_all_lanes(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    undefined = _VECTOR(ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, undefined, ir.VectorType(ir.IntType(32), _LANES)(None))


_rows_6 = _register_block(6)
_rows_5 = _register_block(5)
_rows_4 = _register_block(4)
_rows_3 = _register_block(3)
_rows_2 = _register_block(2)
_rows_1 = _register_block(1)
_columns_6 = _register_block(6, transposed=True)
_columns_5 = _register_block(5, transposed=True)
_columns_4 = _register_block(4, transposed=True)
_columns_3 = _register_block(3, transposed=True)
_columns_2 = _register_block(2, transposed=True)
_columns_1 = _register_block(1, transposed=True)
_one_row_4_panels = _register_block(1, 4)


@njit(cache=True, nogil=True, error_model="numpy")
def _count_sixes(num_rows: int) -> int:
    """Return how many blocks of 6 rows to use: a lone row or pair left over costs as much as a block of 4."""
    sixes = num_rows // 6
    return sixes - 1 if 1 <= num_rows % 6 <= 3 and sixes > 0 else sixes


@njit(cache=True, nogil=True, error_model="numpy")
def _rows_at_once(depth: int) -> int:
    """Return how many rows to multiply with a panel before the next one is fetched, a multiple of 36."""
    return max(1, _CACHED // depth // 36) * 36


@njit(cache=True, nogil=True, error_model="numpy")
def multiply_rows(a: Array, first: int, num_rows: int, panels: Array, out: Array, adding: bool) -> None:
    """Set out[first : first + num_rows] to the same rows of `a` times a packed matrix, or add the product to them.

    Args:
        a: float32 (R, K).
        first: int.
        num_rows: int.
        panels: float32 (P, K, 16).
        out: float32 (R, 16 P).
        adding: bool.
    """
    at_once = _rows_at_once(panels.shape[1])
    for start in range(0, num_rows, at_once):
        _multiply_few_rows(a, first + start, min(at_once, num_rows - start), panels, out, adding)


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply_few_rows(a: Array, first: int, num_rows: int, panels: Array, out: Array, adding: bool) -> None:
    panel = 0
    if num_rows == 1:
        while panel + 4 <= panels.shape[0]:
            _one_row_4_panels(a, first, 0, panels, panel, out, adding)
            panel += 4
    sixes = _count_sixes(num_rows)
    while panel < panels.shape[0]:
        row = 0
        for _ in range(sixes):
            _rows_6(a, first, row, panels, panel, out, adding)
            row += 6
        rest = num_rows - row
        if rest == 9 or rest == 5:
            _rows_5(a, first, row, panels, panel, out, adding)
            row += 5
        elif rest == 8 or rest == 7:
            _rows_4(a, first, row, panels, panel, out, adding)
            row += 4
        rest = num_rows - row
        if rest == 4:
            _rows_4(a, first, row, panels, panel, out, adding)
        elif rest == 3:
            _rows_3(a, first, row, panels, panel, out, adding)
        elif rest == 2:
            _rows_2(a, first, row, panels, panel, out, adding)
        elif rest == 1:
            _rows_1(a, first, row, panels, panel, out, adding)
        panel += 1


@njit(cache=True, nogil=True, error_model="numpy")
def add_product_of_columns(a: Array, first: int, panels: Array, out: Array) -> None:
    """Add to `out` the transpose of the rows of `a` from `first` on times a packed matrix of as many rows.

    Args:
        a: float32 (R, M), of which K rows are used.
        first: int.
        panels: float32 (P, K, 16).
        out: float32 (M, 16 P). Changed in place.
    """
    depth, columns = panels.shape[1], a.shape[1]
    # Rows that lie a multiple of 256 bytes apart fight for a few places of the nearest cache: they are copied together.
    copied = columns % 64 == 0
    few = np.empty((depth if copied else 0, _ROWS_AT_ONCE), dtype=np.float32)
    for start in range(0, columns, _ROWS_AT_ONCE):
        num_columns = min(_ROWS_AT_ONCE, columns - start)
        if copied:
            for k in range(depth):  # number by number: an assignment of arrays takes seconds to compile
                for j in range(num_columns):
                    few[k, j] = a[first + k, start + j]
            some = few[:, :num_columns]
        else:
            some = a[first : first + depth, start : start + num_columns]
        _add_few_columns(some, panels, out[start : start + num_columns])


@njit(cache=True, nogil=True, error_model="numpy")
def _add_few_columns(a: Array, panels: Array, out: Array) -> None:
    num_columns = a.shape[1]
    sixes = _count_sixes(num_columns)
    for panel in range(panels.shape[0]):
        column = 0
        for _ in range(sixes):
            _columns_6(a, 0, column, panels, panel, out, True)
            column += 6
        rest = num_columns - column
        if rest == 9 or rest == 5:
            _columns_5(a, 0, column, panels, panel, out, True)
            column += 5
        elif rest == 8 or rest == 7:
            _columns_4(a, 0, column, panels, panel, out, True)
            column += 4
        rest = num_columns - column
        if rest == 4:
            _columns_4(a, 0, column, panels, panel, out, True)
        elif rest == 3:
            _columns_3(a, 0, column, panels, panel, out, True)
        elif rest == 2:
            _columns_2(a, 0, column, panels, panel, out, True)
        elif rest == 1:
            _columns_1(a, 0, column, panels, panel, out, True)
