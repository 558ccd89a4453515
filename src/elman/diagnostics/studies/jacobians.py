"""How far back a layer's gradient reaches: sizes of Jacobians, taken by the layer's own backward pass."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

Floats = npt.NDArray[np.float32]


def input_gradient_norms(layer: Any, inputs: Floats) -> npt.NDArray[np.float64]:
    """The norm of d(sum of h_T) / d x_0: what is left of the end's gradient at the first input.

    Args:
        layer: Returns outputs and states.
        inputs: float32 (B, T, D).

    Returns:
        float64 (B,).
    """
    x = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs, *_ = layer(x, training=True)  # (B, T, U)
        total = tf.reduce_sum(outputs[:, -1])
    gradient = np.asarray(tape.gradient(total, x))[:, 0]  # (B, D)
    return np.linalg.norm(gradient.astype(np.float64), axis=-1)


def state_jacobians(layer: Any, inputs: Floats, *, distance: int, state: int = 0) -> npt.NDArray[np.float64]:
    """The Jacobians of a state at the end of sequences by the same state `distance` steps earlier.

    The last `distance` steps of a sequence are run once for each unit, as rows of one batch, and the gradient of row j
    is taken of unit j alone: one backward pass gives whole matrices. For an LSTM the other state at the earlier step is
    held fixed: dh_T/dh_k leaves the cell c_k as it is, dc_T/dc_k leaves h_k.

    Args:
        layer: Returns outputs and states.
        inputs: float32 (B, T, D).
        distance: 1 <= distance <= T.
        state: 0 for h, 1 for the LSTM's c.

    Returns:
        float64 (B, U, U), entry (b, j, i) = d s_T[j] / d s_k[i] with k = T - distance.
    """
    batch, length, _ = inputs.shape
    states = _states_before(layer, inputs, distance)
    units = int(states[0].shape[-1])
    tail = tf.repeat(tf.constant(inputs[:, length - distance :]), units, axis=0)  # (B U, distance, D)
    starts = [tf.repeat(part, units, axis=0) for part in states]  # (B U, U) each
    with tf.GradientTape() as tape:
        tape.watch(starts[state])
        _, *ends = layer(tail, initial_state=starts, training=True)
        own = ends[state] * tf.tile(tf.eye(units), [batch, 1])  # (B U, U): unit j of the rows j
    gradient = tape.gradient(own, starts[state], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return np.asarray(gradient, np.float64).reshape(batch, units, units)


def jacobian_sizes(layer: Any, inputs: Floats, *, distances: Sequence[int], state: int = 0) -> npt.NDArray[np.float64]:
    """||ds_T/ds_k||_F / sqrt(U) for each sequence and distance T - k; 1 is the size of the identity.

    Args:
        layer: Returns outputs and states.
        inputs: float32 (B, T, D).
        distances: Each at most T.
        state: 0 for h, 1 for the LSTM's c.

    Returns:
        float64 (B, distances).
    """
    sizes = []
    for distance in distances:
        found = state_jacobians(layer, inputs, distance=distance, state=state)  # (B, U, U)
        sizes.append(np.linalg.norm(found, axis=(1, 2)) / np.sqrt(found.shape[-1]))
    return np.stack(sizes, axis=1)


def geometric_mean(values: Any, *, axis: int | None = None) -> Any:
    """The exponential of the mean logarithm; a 0, which float32 makes of anything below 1e-45, counts as that."""
    return np.exp(np.mean(np.log(np.maximum(np.asarray(values, np.float64), 1e-45)), axis=axis))


def _states_before(layer: Any, inputs: Floats, distance: int) -> list[Any]:
    """The states (B, U) before the last `distance` steps; zeros where these are all."""
    head = inputs[:, : inputs.shape[1] - distance]
    if head.shape[1]:
        _, *states = layer(tf.constant(head), training=False)
        return states
    _, *states = layer(tf.constant(inputs[:, :1]), training=False)
    return [tf.zeros_like(part) for part in states]
