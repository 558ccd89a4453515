"""LSTM gates that are held open."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from elman.errors import ConfigError

GATES = ("input", "forget", "output")

# In the columns of kernel, recurrent kernel and bias: the candidate is the third of four blocks, and no gate.
_BLOCK = {"input": 0, "forget": 1, "output": 3}

# exp(-100) is lost beside 1 in float64, and 100 fits in float16.
_OPEN_BIAS = 100.0


def checked_gates(open_gates: Sequence[str], layer: str) -> tuple[str, ...]:
    """Return the names as a tuple in the order of `GATES`.

    Raises:
        ConfigError: A name is unknown or comes twice, or a string was given where a tuple of names is wanted.
    """
    if isinstance(open_gates, str) or not set(open_gates) <= set(GATES) or len(set(open_gates)) < len(open_gates):
        raise ConfigError(
            f"open_gates of layer {layer!r} must be a tuple of different names among {', '.join(GATES)}, "
            f"got {open_gates!r}."
        )
    return tuple(gate for gate in GATES if gate in open_gates)


class OpenGateCell(keras.layers.LSTMCell):
    """`keras.layers.LSTMCell` whose named gates are 1 at all steps, by the weights that any loop reads from it.

    `kernel`, `recurrent_kernel` and `bias` give what the loop computes with: the open gates' columns are zero and their
    bias is so large that the sigmoid is 1. Zero comes from a product with a constant, so the gradients of these columns
    are exactly zero. The variables keep the shapes and names of the plain cell.
    """

    open_gates: tuple[str, ...]

    @classmethod
    def convert(cls, cell: keras.layers.LSTMCell, open_gates: tuple[str, ...]) -> None:
        """Hold gates of a cell open that has no weights yet."""
        # Keras' layer makes its cell itself and offers no other way in; a second cell would stay among its parts.
        cell.__class__ = cls
        cell.open_gates = open_gates

    @property
    def kernel(self) -> Any:
        """W with zeros for the open gates, float (D, 4U)."""
        return self._closed_columns(self._kernel)

    @kernel.setter
    def kernel(self, variable: Any) -> None:
        self._kernel = variable

    @property
    def recurrent_kernel(self) -> Any:
        """U with zeros for the open gates, float (U, 4U)."""
        return self._closed_columns(self._recurrent_kernel)

    @recurrent_kernel.setter
    def recurrent_kernel(self, variable: Any) -> None:
        self._recurrent_kernel = variable

    @property
    def bias(self) -> Any:
        """The bias, with a large number for the open gates, float (4U,)."""
        bias = self._closed_columns(self._bias)
        return bias + ops.cast(_OPEN_BIAS * (1.0 - self._closed()), bias.dtype)

    @bias.setter
    def bias(self, variable: Any) -> None:
        self._bias = variable

    def _closed(self) -> np.ndarray:
        """Return 0 for the columns of open gates, 1 for the others, float (4U,)."""
        closed = np.ones((4, self.units))
        closed[[_BLOCK[gate] for gate in self.open_gates]] = 0.0
        return closed.ravel()

    def _closed_columns(self, variable: Any) -> Any:
        return variable.value * ops.cast(self._closed(), variable.value.dtype)
