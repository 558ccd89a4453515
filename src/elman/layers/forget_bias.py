"""The first value of an LSTM's bias."""

from typing import Any

import keras


class ForgetGateBias(keras.initializers.Initializer):
    """Initialise a bias (4U,) in Keras' order i, f, g, o: the forget gate by a number, the rest by another initialiser.

    Args:
        rest: Initializer of the other gates.
        value: float. What the forget gate's bias starts at.
    """

    def __init__(self, rest: Any, value: float) -> None:
        self.rest = keras.initializers.get(rest)
        self.value = value

    def __call__(self, shape: tuple[int, ...], dtype: Any = None) -> Any:
        """Return the bias, float (4U,)."""
        units = shape[0] // 4
        parts = [
            self.rest((units,), dtype=dtype),
            keras.ops.full((units,), self.value, dtype=dtype),
            self.rest((2 * units,), dtype=dtype),
        ]
        return keras.ops.concatenate(parts)
