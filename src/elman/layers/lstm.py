"""Long short-term memory."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from elman.errors import ConfigError
from elman.layers.fast_loop import FastLoop, Loop
from elman.layers.forget_bias import ForgetGateBias
from elman.layers.kernels.lstm import LSTM_KERNEL
from elman.layers.open_gates import OpenGateCell, checked_gates


@keras.saving.register_keras_serializable(package="elman")
class LSTM(FastLoop, keras.layers.LSTM):
    """`keras.layers.LSTM` on the fastest loop that its options and the machine allow, with a forget bias of any size.

    Same constructor arguments, weights and file format as Keras' layer, so weights move between the two as they are.

        i = sigmoid(x W_i + h' U_i + b_i)      f = sigmoid(x W_f + h' U_f + b_f)
        g = tanh(x W_g + h' U_g + b_g)         o = sigmoid(x W_o + h' U_o + b_o)
        c = f c' + i g                         h = o tanh(c)

    where x is the input of a step, h' and c' are the states before it, and the columns of W, U and b stand in the order
    i, f, g, o. A forget gate that starts open lets gradients through from the first update on, which is why its bias
    starts at 1 and not at 0.

    **Masking**: uses and forwards. A masked step leaves the states as they are; its output repeats the one before it
    (zero before the first real step), or is zero with `zero_output_for_mask`.

    Weights:
        kernel: float (D, 4U). W.
        recurrent_kernel: float (U, 4U). U.
        bias: float (4U,). b.

    Args:
        units: int. U, size of the states.
        forget_bias: float. What the forget gate's bias starts at: the sum of all biases that the gate sees.
        open_gates: Names among "input", "forget", "output" of gates that are 1 at all steps; `("forget",)` is the LSTM
            of 1997. Their columns of the weights stay, have no effect and get gradients of zero. (The CPU kernel's
            sigmoid ends at 1 - 1.2e-7, which is 1 up to rounding.)
        loop: "auto" for the loop that `kernel_plan()` names, "generic" for Keras' own loop, which every device, XLA and
            export can run.
        unit_forget_bias: bool. False leaves the forget gate to `bias_initializer`; `forget_bias` must then be left out.
        **kwargs: As in `keras.layers.LSTM`.

    Raises:
        ConfigError: An argument is out of its range, or two contradict each other.

    Example:
        >>> layer = LSTM(3, forget_bias=2.5)
        >>> layer.build((None, None, 2))
        >>> layer.forget_gate_bias.tolist()
        [2.5, 2.5, 2.5]

    References:
        hochreiter1997long, gers2000learning, jozefowicz2015empirical
    """

    cell_kernel = LSTM_KERNEL

    def __init__(
        self,
        units: int,
        *,
        forget_bias: float = 1.0,
        open_gates: Sequence[str] = (),
        loop: Loop = "auto",
        unit_forget_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        if not np.isfinite(forget_bias):
            raise ConfigError(f"forget_bias must be a finite number, got {forget_bias!r}.")
        if not unit_forget_bias and forget_bias != 1.0:
            raise ConfigError(
                "unit_forget_bias=False leaves the forget gate to bias_initializer, so "
                f"forget_bias={forget_bias!r} would be ignored: leave one of the two out."
            )
        super().__init__(units, unit_forget_bias=unit_forget_bias, **kwargs)
        self.forget_bias = float(forget_bias)
        self.open_gates = checked_gates(open_gates, self.name)
        if self.open_gates:
            self._hold_open()
        self.choose_loop(loop)

    def _hold_open(self) -> None:
        if "forget" in self.open_gates and self.forget_bias != 1.0:
            raise ConfigError(
                f"open_gates of layer {self.name!r} holds the forget gate at 1, so forget_bias={self.forget_bias!r} "
                "would be ignored: leave one of the two out."
            )
        if not self.use_bias or self.recurrent_activation is not keras.activations.sigmoid:
            raise ConfigError(
                f'open_gates of layer {self.name!r} needs use_bias=True and recurrent_activation="sigmoid", since a '
                "gate is opened by its bias."
            )
        OpenGateCell.convert(self.cell, self.open_gates)

    def build(self, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        """Create the weights, the forget gate's bias at `forget_bias`."""
        cell = self.cell
        plain = (cell.bias_initializer, cell.unit_forget_bias)
        if cell.unit_forget_bias:
            cell.bias_initializer = ForgetGateBias(cell.bias_initializer, self.forget_bias)
            cell.unit_forget_bias = False
        try:
            super().build(sequences_shape, initial_state_shape)
        finally:
            cell.bias_initializer, cell.unit_forget_bias = plain

    @property
    def forget_gate_bias(self) -> np.ndarray:
        """The bias that the forget gate of each unit sees now, float (U,): zeros without a bias, 100 if held open."""
        if not self.use_bias:
            return np.zeros(self.units, dtype=np.float32)
        return np.asarray(self.cell.bias)[self.units : 2 * self.units]

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        extra = {
            "forget_bias": self.forget_bias,
            "open_gates": list(self.open_gates),
            "loop": self.loop,
            "use_cudnn": self.use_cudnn,
            "implementation": self.cell.implementation,
        }
        return {**super().get_config(), **extra}
