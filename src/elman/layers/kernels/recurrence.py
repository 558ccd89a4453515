"""Kernels as TensorFlow functions with gradients.

A layer hands over x W, already multiplied; what comes back is differentiable by x W, the recurrent matrix, the bias and
the initial states, so that TensorFlow forms the gradients of x and W by its own product.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from elman.layers.kernels import buffers
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.cell import CellKernel, Plan, Reading
from elman.layers.kernels.threads import available_threads

_Shape = tuple[Any, ...]


def run_recurrence(
    cell: CellKernel,
    projected: tf.Tensor,
    matrix: tf.Tensor,
    bias: tf.Tensor,
    states: Sequence[tf.Tensor],
    mask: tf.Tensor,
    *,
    reading: Reading,
    save: bool,
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Return the outputs and last states of a cell over a sequence, differentiable by all float arguments.

    Args:
        cell: The cell, with G gates.
        projected: float32 (B, T, G U). x W, without the bias.
        matrix: float32 (U, G U). The recurrent matrix.
        bias: float32, as the cell wants it.
        states: float32 (B, U) each. Initial states.
        mask: bool (B, T). True for a real step.
        reading: How the sequence is read.
        save: Whether to keep what a gradient needs. Without it a gradient is still right, but runs the sequence again.

    Returns:
        Outputs, float32 (B, T, U) or (B, 0, U) where no sequence is wanted; last states, float32 (B, U) each.
    """
    work = _Work(cell, reading, units=int(matrix.shape[0]))
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
            results_back = _call_numpy(
                work.backward,
                [matrix, *states, *saved, *upstream, mask],
                work.backward_shapes(batch, length, tuple(bias.shape)),
            )
            d_bias, *d_states = results_back[: 1 + num_states]
            d_projected, d_inner = results_back[1 + num_states], results_back[-1]
            return d_projected, _sum_of_products(saved[-1], d_inner), d_bias, *d_states

        return tuple(results[: 1 + num_states]), gradient

    outputs, *last = run(projected, matrix, bias, *states)
    return outputs, last


class _Work:
    """The calls that TensorFlow makes into NumPy: arrays made, kernels run."""

    def __init__(self, cell: CellKernel, reading: Reading, *, units: int) -> None:
        self.cell, self.reading, self.units = cell, reading, units
        self.threads = tf.config.threading.get_intra_op_parallelism_threads() or available_threads()

    def forward_shapes(self, batch: int | None, length: int | None, *, keep: bool) -> list[_Shape]:
        """Return the shapes of outputs, last states and saved arrays."""
        sequence = length if self.reading.sequences else 0
        kept = length if keep else 0
        return [
            (batch, sequence, self.units),
            *[(batch, self.units)] * self.cell.states,
            *[(batch, kept, width * self.units) for width in self.cell.saved],
        ]

    def forward(self, *arrays: Array) -> list[Array]:
        return self._forward(arrays, keep=False)

    def forward_keeping(self, *arrays: Array) -> list[Array]:
        return self._forward(arrays, keep=True)

    def _forward(self, arrays: Sequence[Array], *, keep: bool) -> list[Array]:
        projected, matrix, bias, *states, mask = arrays
        results = [buffers.empty(*shape) for shape in self.forward_shapes(*mask.shape, keep=keep)]
        outputs, last, saved = results[0], results[1 : 1 + self.cell.states], results[1 + self.cell.states :]
        self.cell.forward(self._plan(mask), keep, projected, matrix, bias, states, outputs, last, saved)
        return results

    def backward_shapes(self, batch: int | None, length: int | None, bias: _Shape) -> list[_Shape]:
        """Return the shapes of the gradients of bias, initial states, x W, and, where it differs, h' U."""
        product = (batch, length, self.cell.gates * self.units)
        return [bias, *[(batch, self.units)] * self.cell.states, *[product] * (1 + self.cell.inner_apart)]

    def backward(self, matrix: Array, *arrays: Array) -> list[Array]:
        num_states, mask = self.cell.states, arrays[-1]
        states, rest = arrays[:num_states], arrays[num_states:-1]
        saved, (d_outputs, *d_last) = rest[: len(self.cell.saved)], rest[len(self.cell.saved) :]
        batch, length = mask.shape
        results = [buffers.empty(*shape) for shape in self.backward_shapes(batch, length, ())[1:]]
        d_states, d_projected, d_inner = results[:num_states], results[num_states], results[-1]
        d_bias = self.cell.backward(
            self._plan(mask), matrix, states, saved, d_outputs, d_last, d_projected, d_inner, d_states
        )
        return [d_bias, *results]

    def _plan(self, mask: Array) -> Plan:
        multiply_adds = self.cell.gates * self.units * self.units
        return Plan(mask, self.reading, multiply_adds_per_step=multiply_adds, threads=self.threads)


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


def _sum_of_products(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    """Return the sum over batch and time of left^T right: (B, T, M), (B, T, N) -> (M, N)."""
    left_rows = tf.reshape(left, (-1, left.shape[-1]))  # (B T, M)
    right_rows = tf.reshape(right, (-1, right.shape[-1]))  # (B T, N)
    return tf.matmul(left_rows, right_rows, transpose_a=True)
