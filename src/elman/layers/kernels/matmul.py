"""A product of a few rows with a fixed matrix, kept fast by packing the matrix once a sequence.

A recurrent step multiplies the states of a few rows by the same matrix at every time step. A BLAS call would repack that
matrix at each step and bring a thread pool of its own, which spins on the cores that TensorFlow needs. Here the matrix is
packed once into panels of 16 columns, and the inner product is a register block (rows x 16 columns) written with the
vector types of LLVM, because no loop that numba can see is kept in registers by the compiler.

Each output is one chain of multiply-adds over k in order, whatever the number of rows: the result of a row does not
depend, to the last bit, on which other rows stand in the batch.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

PANEL = 16
_LANES = 8  # float32 lanes of one vector; the compiler splits or joins them for other machines
_FAST = ("contract",)


@njit(cache=True, nogil=True, error_model="numpy")
def pack_panels(matrix):
    """Return `matrix` (K, N) as panels (ceil(N / 16), K, 16), the last one filled up with zeros."""
    rows, columns = matrix.shape
    panels = np.zeros(((columns + PANEL - 1) // PANEL, rows, PANEL), dtype=np.float32)
    for k in range(rows):
        for j in range(columns):
            panels[j // PANEL, k, j % PANEL] = matrix[k, j]
    return panels


@njit(cache=True, nogil=True, error_model="numpy")
def pack_panels_transposed(matrix):
    """Return the transpose of `matrix` (N, K) as panels (ceil(N / 16), K, 16)."""
    columns, rows = matrix.shape
    panels = np.zeros(((columns + PANEL - 1) // PANEL, rows, PANEL), dtype=np.float32)
    for j in range(columns):
        for k in range(rows):
            panels[j // PANEL, k, j % PANEL] = matrix[j, k]
    return panels


def _register_block(num_rows: int, num_panels: int):
    """Make the intrinsic `block(a, row, panels, panel, out)` for `num_rows` rows and `num_panels` panels of 16."""

    @intrinsic
    def block(typing_context, a, row, panels, panel, out):
        signature = types.void(a, types.intp, panels, types.intp, out)

        def generate(context, builder, sig, args):
            _emit_block(context, builder, sig, args, num_rows, num_panels)
            return context.get_dummy_value()

        return signature, generate

    return block


def _emit_block(context, builder, sig, args, num_rows: int, num_panels: int) -> None:
    """Emit out[row + r, 16 panel + c] = sum_k a[row + r, k] panels[panel, k, c] for the rows and columns of the block."""
    vector = ir.VectorType(ir.FloatType(), _LANES)
    index = context.get_value_type(types.intp)
    arrays = [
        context.make_array(ty)(context, builder, value) for ty, value in zip(sig.args[::2], args[::2], strict=True)
    ]
    a, panels, out = arrays
    row, panel = args[1], args[3]
    a_width = cgutils.unpack_tuple(builder, a.shape)[1]
    depth = cgutils.unpack_tuple(builder, panels.shape)[1]
    out_width = cgutils.unpack_tuple(builder, out.shape)[1]
    halves = PANEL // _LANES

    def at(base, *terms):
        offset = terms[0]
        for term in terms[1:]:
            offset = builder.add(offset, term)
        return builder.gep(base, [offset])

    def constant(value):
        return ir.Constant(index, value)

    a_rows = [at(a.data, builder.mul(builder.add(row, constant(r)), a_width)) for r in range(num_rows)]
    panel_size = builder.mul(depth, constant(PANEL))
    panel_rows = [at(panels.data, builder.mul(builder.add(panel, constant(p)), panel_size)) for p in range(num_panels)]
    sums = [
        [cgutils.alloca_once_value(builder, ir.Constant(vector, None)) for _ in range(halves * num_panels)]
        for _ in range(num_rows)
    ]
    with cgutils.for_range(builder, depth) as loop:
        weights = []
        for base in panel_rows:
            for half in range(halves):
                place = at(base, builder.mul(loop.index, constant(PANEL)), constant(half * _LANES))
                weights.append(builder.load(builder.bitcast(place, vector.as_pointer()), align=4))
        for r in range(num_rows):
            value = builder.load(at(a_rows[r], loop.index))
            lanes = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
            lanes = builder.shuffle_vector(
                lanes,
                ir.Constant(vector, ir.Undefined),
                ir.Constant(ir.VectorType(ir.IntType(32), _LANES), None),
            )
            for weight, total in zip(weights, sums[r], strict=True):
                product = builder.fmul(lanes, weight, flags=_FAST)
                builder.store(builder.fadd(builder.load(total), product, flags=_FAST), total)
    first_column = builder.mul(panel, constant(PANEL))
    for r in range(num_rows):
        base = at(out.data, builder.mul(builder.add(row, constant(r)), out_width), first_column)
        for part, total in enumerate(sums[r]):
            place = builder.bitcast(at(base, constant(part * _LANES)), vector.as_pointer())
            builder.store(builder.load(total), place, align=4)


_block_6x1 = _register_block(6, 1)
_block_5x1 = _register_block(5, 1)
_block_4x1 = _register_block(4, 1)
_block_3x1 = _register_block(3, 1)
_block_2x1 = _register_block(2, 1)
_block_1x1 = _register_block(1, 1)
_block_1x4 = _register_block(1, 4)


@njit(cache=True, nogil=True, error_model="numpy")
def _count_sixes(num_rows):
    """Return how many blocks of 6 rows to use: a lone row or pair left over costs as much as a block of 4."""
    sixes = num_rows // 6
    return sixes - 1 if 1 <= num_rows % 6 <= 3 and sixes > 0 else sixes


@njit(cache=True, nogil=True, error_model="numpy")
def multiply_rows(a, num_rows, panels, out):
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
