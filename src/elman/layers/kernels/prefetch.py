"""A hint to the processor: the numbers of a step are wanted soon.

The steps of a row lie far apart in memory, so the processor does not foresee that the next one is wanted, and each step
would begin with waiting. Asked for one step ahead, the numbers arrive while the product of the step is formed.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LINE = 16  # float32 numbers in a cache line
_INT = ir.IntType(32)


@intrinsic
def prefetch(typing_context, array, row, time):  # type: ignore[no-untyped-def]
    """Ask for array[row, time] of a float32 array (B, T, N); has no other effect."""
    del typing_context, row, time  # the two numbers become intp

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
        value = context.make_array(signature.args[0])(context, builder, args[0])
        length, width = (builder.extract_value(value.shape, axis) for axis in (1, 2))
        first = builder.mul(builder.add(builder.mul(args[1], length), args[2]), width)
        byte = ir.IntType(8).as_pointer()
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, *[_INT] * 3])
        )
        with cgutils.for_range_slice(builder, width.type(0), width, width.type(_LINE)) as (offset, _):
            place = builder.gep(value.data, [builder.add(first, offset)])
            builder.call(hint, [builder.bitcast(place, byte), _INT(0), _INT(2), _INT(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate
