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


def state_jacobian(layer: Any, inputs: Floats, *, distance: int, state: int = 0) -> npt.NDArray[np.float64]:
    """The Jacobian of a state at the end of a sequence by the same state `distance` steps earlier.

    The last `distance` steps are run once for each unit, as the rows of one batch, and row j's gradient is taken of
    unit j alone: one backward pass gives the whole matrix. For an LSTM the other state at the earlier step is held
    fixed: dh_T/dh_k leaves the cell c_k as it is, dc_T/dc_k leaves h_k.

    Args:
        layer: Returns outputs and states.
        inputs: float32 (T, D). One sequence.
        distance: 1 <= distance <= T.
        state: 0 for h, 1 for the LSTM's c.

    Returns:
        float64 (U, U), entry (j, i) = d s_T[j] / d s_k[i] with k = T - distance.
    """
    states = _states_before(layer, inputs, distance)
    units = int(states[0].shape[-1])
    tail = tf.repeat(tf.constant(inputs[None, len(inputs) - distance :]), units, axis=0)  # (U, distance, D)
    starts = [tf.repeat(part, units, axis=0) for part in states]  # (U, U) each
    with tf.GradientTape() as tape:
        tape.watch(starts[state])
        _, *ends = layer(tail, initial_state=starts, training=True)
        own = tf.linalg.diag_part(ends[state])  # (U,): unit j of row j
    gradient = tape.gradient(own, starts[state], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return np.asarray(gradient, np.float64)


def jacobian_sizes(layer: Any, inputs: Floats, *, distances: Sequence[int], state: int = 0) -> npt.NDArray[np.float64]:
    """||ds_T/ds_k||_F / sqrt(U) for each distance T - k; 1 is the size of the identity.

    Args:
        layer: Returns outputs and states.
        inputs: float32 (B, T, D).
        distances: Each at most T.
        state: 0 for h, 1 for the LSTM's c.

    Returns:
        float64 (distances,). Geometric mean over the B sequences: sizes spread over orders of magnitude.
    """
    sizes = []
    for distance in distances:
        found = [state_jacobian(layer, row, distance=distance, state=state) for row in inputs]
        sizes.append(geometric_mean([np.linalg.norm(jacobian) / np.sqrt(len(jacobian)) for jacobian in found]))
    return np.array(sizes)


def geometric_mean(values: Any) -> float:
    """The exponential of the mean logarithm; a 0, which float32 makes of anything below 1e-45, counts as that."""
    return float(np.exp(np.mean(np.log(np.maximum(np.asarray(values, np.float64), 1e-45)))))


def _states_before(layer: Any, inputs: Floats, distance: int) -> list[Any]:
    """The states (1, U) before the last `distance` steps; zeros where these are all."""
    head = inputs[None, : len(inputs) - distance]
    if head.shape[1]:
        _, *states = layer(tf.constant(head), training=False)
        return states
    _, *states = layer(tf.constant(inputs[None, :1]), training=False)
    return [tf.zeros_like(part) for part in states]
