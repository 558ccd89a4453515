"""Gated recurrent unit."""

from typing import Any

import keras

from elman.layers.fast_loop import FastLoop, Loop
from elman.layers.kernels.gru import GRU_KERNEL


@keras.saving.register_keras_serializable(package="elman")
class GRU(FastLoop, keras.layers.GRU):
    """`keras.layers.GRU` on the fastest loop that its options and the machine allow.

    Same constructor arguments, weights and file format as Keras' layer, so weights move between the two as they are.

        z = sigmoid(x W_z + b_z + h' U_z + e_z)      r = sigmoid(x W_r + b_r + h' U_r + e_r)
        g = tanh(x W_g + b_g + r (h' U_g + e_g))     h = z h' + (1 - z) g

    where x is the input of a step, h' is the state before it, and the columns stand in the order z, r, g. The reset
    gate r works after the product, as in cuDNN and PyTorch; with `reset_after=False` it works before it,
    g = tanh(x W_g + b_g + (r h') U_g), which needs the generic loop.

    **Masking**: uses and forwards. A masked step leaves the state as it is; its output repeats the one before it (zero
    before the first real step), or is zero with `zero_output_for_mask`.

    Weights:
        kernel: float (D, 3U). W.
        recurrent_kernel: float (U, 3U). U.
        bias: float (2, 3U), b and e; with `reset_after=False` float (3U,).

    Args:
        units: int. U, size of the state.
        loop: "auto" for the loop that `kernel_plan()` names, "generic" for Keras' own loop, which every device, XLA and
            export can run.
        **kwargs: As in `keras.layers.GRU`.

    Raises:
        ConfigError: `loop` is unknown.

    Example:
        >>> layer = GRU(128)
        >>> layer.build((None, None, 100))
        >>> layer.count_params()
        88320

    References:
        cho2014learning
    """

    cell_kernel = GRU_KERNEL

    def __init__(self, units: int, *, loop: Loop = "auto", **kwargs: Any) -> None:
        super().__init__(units, **kwargs)
        self.choose_loop(loop)

    def bias_shape(self) -> tuple[int, ...]:
        """Return (2, 3U): the biases of input and state."""
        return (2, 3 * self.units)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        extra = {
            "loop": self.loop,
            "use_cudnn": self.use_cudnn,
            "implementation": self.cell.implementation,
        }
        return {**super().get_config(), **extra}
