"""What the three recurrent layers share: the choice of the loop, and the call of the CPU kernel."""

from collections.abc import Sequence
from typing import Any, Literal

import keras
import tensorflow as tf

from elman.errors import ConfigError
from elman.layers.kernel_plan import KernelPlan, kernel_plan
from elman.layers.kernels.cell import CellKernel, Reading
from elman.layers.kernels.recurrence import run_recurrence

Loop = Literal["auto", "generic"]


class FastLoop:
    """Mixin before a Keras recurrent layer that runs it on the implementation named by `kernel_plan`.

    Subclasses set `cell_kernel`, and hand the constructor's argument `loop` to `choose_loop`.
    """

    cell_kernel: CellKernel
    loop: Loop

    def choose_loop(self: Any, loop: Loop) -> None:
        """Keep the argument `loop`, and tell Keras whether the layer can be compiled by XLA.

        Raises:
            ConfigError: `loop` is neither "auto" nor "generic".
        """
        if loop not in ("auto", "generic"):
            raise ConfigError(f'loop of layer {self.name!r} must be "auto" or "generic", got {loop!r}.')
        self.loop = loop
        self.supports_jit = self.kernel_plan().name == "generic loop"

    def kernel_plan(self) -> KernelPlan:
        """Return which implementation this layer runs on here, and why."""
        return kernel_plan(self, bool(tf.config.list_logical_devices("GPU")))

    def inner_loop(
        self: Any, sequences: tf.Tensor, initial_state: Any, mask: Any, training: bool = False
    ) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
        """Return last output, outputs and last states, as Keras' layers do."""
        if isinstance(mask, Sequence):
            mask = mask[0]
        plan = self.kernel_plan()
        if plan.name == "CPU kernel":
            return self._run_cpu_kernel(sequences, initial_state, mask, training)
        if plan.name == "cuDNN":
            return super().inner_loop(sequences, initial_state, mask, training=training)  # type: ignore[misc]
        if getattr(self, "use_cudnn", "auto") is True:
            raise ConfigError(f"use_cudnn=True of layer {self.name!r} cannot be met. {plan}.")
        return keras.layers.RNN.inner_loop(self, sequences, initial_state, mask, training=training)

    def _run_cpu_kernel(
        self: Any, sequences: tf.Tensor, initial_state: Any, mask: Any, training: bool
    ) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
        cell = self.cell
        if training and self.dropout:
            sequences = sequences * cell.get_dropout_mask(sequences[:, 0, :])[:, None, :]
        kernel, matrix = _as_float32(cell.kernel), _as_float32(cell.recurrent_kernel)
        bias = _as_float32(cell.bias) if self.use_bias else tf.zeros(self.bias_shape())
        states = [tf.cast(state, tf.float32) for state in _as_list(initial_state)]
        steps_mask = _steps_mask(mask, sequences)  # (B, T)
        reading = Reading(
            sequences=self.return_sequences, backwards=self.go_backwards, zero_output=self.zero_output_for_mask
        )
        x = tf.cast(sequences, tf.float32)
        weights = (kernel, matrix, bias)
        outputs, last = run_recurrence(
            self.cell_kernel, x, weights, states, steps_mask, reading=reading, save=bool(training)
        )
        last_output = last[0]
        if mask is not None:
            last_output = _last_output(last_output, steps_mask, reading)
        if not self.return_sequences:
            outputs = last_output[:, None, :]
        return last_output, outputs, last

    def bias_shape(self: Any) -> tuple[int, ...]:
        """Return the shape of the bias that the kernel wants."""
        return (self.cell_kernel.gates * self.units,)


def _as_list(states: Any) -> list[tf.Tensor]:
    return list(states) if isinstance(states, Sequence) else [states]


def _as_float32(variable: keras.Variable) -> tf.Tensor:
    return tf.cast(tf.convert_to_tensor(variable), tf.float32)


def _steps_mask(mask: Any, sequences: tf.Tensor) -> tf.Tensor:
    """Return the mask as bool (B, T), all true where there is none."""
    if mask is None:
        filled = tf.fill(tf.shape(sequences)[:2], True)
        return tf.ensure_shape(filled, sequences.shape[:2])
    mask = tf.cast(mask, tf.bool)
    return tf.squeeze(mask, -1) if len(mask.shape) == 3 else mask


def _last_output(last_h: tf.Tensor, mask: tf.Tensor, reading: Reading) -> tf.Tensor:
    """Return the output of the last position: zero where there was no output yet, or where masked steps give zero."""
    if reading.zero_output:
        has_output = mask[:, 0] if reading.backwards else mask[:, -1]  # (B,)
    else:
        has_output = tf.reduce_any(mask, axis=1)  # (B,)
    return tf.where(has_output[:, None], last_h, tf.zeros_like(last_h))
