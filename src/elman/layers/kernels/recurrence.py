"""Kernels as TensorFlow functions with gradients."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from elman.layers.kernels import buffers
from elman.layers.kernels.array_work import ArrayWork
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.cell import CellKernel, Reading
from elman.layers.kernels.threads import available_threads

_Shape = tuple[Any, ...]


def run_recurrence(
    cell: CellKernel,
    x: tf.Tensor,
    weights: Sequence[tf.Tensor],
    states: Sequence[tf.Tensor],
    mask: tf.Tensor,
    *,
    reading: Reading,
    save: bool,
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Return the outputs and last states of a cell over a sequence, differentiable by all float arguments.

    Args:
        cell: The cell, with G gates.
        x: float32 (B, T, D).
        weights: Kernel, float32 (D, G U); recurrent kernel, float32 (U, G U); bias, float32, as the cell wants it.
        states: float32 (B, U) each. Initial states.
        mask: bool (B, T). True for a real step.
        reading: How the sequence is read.
        save: Whether to keep what a gradient needs. Without it a gradient is still right, but runs the sequence again.

    Returns:
        Outputs, float32 (B, T, U) or (B, 0, U) where no sequence is wanted; last states, float32 (B, U) each.
    """
    work = ArrayWork(cell, reading, units=int(weights[1].shape[0]), threads=_threads())
    batch, length = mask.shape
    num_states = len(states)

    def forward(inputs: Sequence[tf.Tensor], *, keep: bool) -> list[tf.Tensor]:
        function = work.forward_keeping if keep else work.forward
        return _call_numpy(function, inputs, work.forward_shapes(batch, length, keep=keep))

    @tf.custom_gradient
    def run(*differentiable):  # type: ignore[no-untyped-def]
        inputs = [*differentiable, mask]
        results = forward(inputs, keep=save)

        def gradient(*upstream):  # type: ignore[no-untyped-def]
            saved = (results if save else forward(inputs, keep=True))[1 + num_states :]
            shapes = [tuple(tensor.shape) for tensor in differentiable]
            return tuple(_call_numpy(work.backward, [*inputs, *saved, *upstream], shapes))

        return tuple(results[: 1 + num_states]), gradient

    outputs, *last = run(x, *weights, *states)
    return outputs, last


def _threads() -> int:
    return tf.config.threading.get_intra_op_parallelism_threads() or available_threads()


def _call_numpy(
    function: Callable[..., list[Array]], inputs: Sequence[tf.Tensor], shapes: Sequence[_Shape]
) -> list[tf.Tensor]:
    """Call a NumPy function on tensors, eagerly or as an operation of the graph that is being built."""

    def on_arrays(*arrays: Array) -> list[Array]:
        return function(*[buffers.read_only(array) for array in arrays])

    if tf.executing_eagerly():
        return [tf.convert_to_tensor(array) for array in on_arrays(*[tensor.numpy() for tensor in inputs])]
    results = tf.numpy_function(on_arrays, inputs, [tf.float32] * len(shapes), stateful=False)
    for result, shape in zip(results, shapes, strict=True):
        result.set_shape(shape)
    return list(results)
