"""The simple recurrent network of Elman."""

from typing import Any

import keras

from elman.layers.fast_loop import FastLoop, Loop
from elman.layers.kernels.simple_rnn import SIMPLE_RNN_KERNEL


@keras.saving.register_keras_serializable(package="elman")
class SimpleRNN(FastLoop, keras.layers.SimpleRNN):
    """`keras.layers.SimpleRNN` on the fastest loop that its options and the machine allow.

    Same constructor arguments, weights and file format as Keras' layer, so weights move between the two as they are.

        h = tanh(x W + h' U + b)

    where x is the input of a step and h' the state before it.

    **Masking**: uses and forwards. A masked step leaves the state as it is; its output repeats the one before it (zero
    before the first real step), or is zero with `zero_output_for_mask`.

    Weights:
        kernel: float (D, U). W.
        recurrent_kernel: float (U, U). U.
        bias: float (U,). b.

    Args:
        units: int. U, size of the state.
        loop: "auto" for the loop that `kernel_plan()` names, "generic" for Keras' own loop, which every device, XLA and
            export can run.
        **kwargs: As in `keras.layers.SimpleRNN`.

    Raises:
        ConfigError: `loop` is unknown.

    Example:
        >>> layer = SimpleRNN(128)
        >>> layer.build((None, None, 64))
        >>> layer.count_params()
        24704

    References:
        elman1990finding
    """

    cell_kernel = SIMPLE_RNN_KERNEL

    def __init__(self, units: int, *, loop: Loop = "auto", **kwargs: Any) -> None:
        super().__init__(units, **kwargs)
        self.choose_loop(loop)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "loop": self.loop, "seed": self.cell.seed}
