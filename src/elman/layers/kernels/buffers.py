"""Arrays that pass between NumPy and TensorFlow without a copy."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# TensorFlow takes an array over as it is only when it starts on such a boundary, and copies it otherwise.
_ALIGNMENT = 64


def empty(*shape: int) -> Array:
    """Return an uninitialised float32 array that TensorFlow can take over without a copy."""
    size = int(np.prod(shape))
    raw = np.empty(size * 4 + _ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size * 4].view(np.float32).reshape(shape)


def zeros(*shape: int) -> Array:
    """Return a float32 array of zeros that TensorFlow can take over without a copy."""
    array = empty(*shape)
    array.fill(0.0)
    return array


def read_only(array: Array) -> Array:
    """Return a contiguous view that may not be written to.

    Arrays from TensorFlow come writable or not, depending on where they were made; a compiled kernel exists for one
    of the two.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
