"""One update of Adam in a single pass over each array, where single operations read and write them about ten times."""

import numpy as np
from numba import njit

from elman.layers.kernels import buffers
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.threads import run_parts

# Below this many numbers a second thread costs more than it saves.
_WORTH_A_THREAD = 65_536


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _update(
    gradient: Array, before: Array, after: Array, first: int, last: int,
    scale: np.float32, alpha: np.float32, rates: Array,
) -> None:  # fmt: skip
    """Update numbers first..last - 1.

    Args:
        gradient: float32 (N,).
        before: Three float32 (N,): weight, momentum, velocity.
        after: Three float32 (N,). Written.
        first: int.
        last: int.
        scale: float32. Factor of the gradient: clipping.
        alpha: float32. The learning rate, corrected for the start from zero.
        rates: float32 (3,). 1 - beta_1, 1 - beta_2, epsilon.
    """
    weight, momentum, velocity = before
    new_weight, new_momentum, new_velocity = after
    for j in range(first, last):
        g = gradient[j] * scale
        m = momentum[j] + (g - momentum[j]) * rates[0]
        v = velocity[j] + (g * g - velocity[j]) * rates[1]
        new_momentum[j] = m
        new_velocity[j] = v
        new_weight[j] = weight[j] - m * alpha / (np.sqrt(v) + rates[2])


def adam(
    gradient: Array, weight: Array, momentum: Array, velocity: Array, *,
    scale: float, alpha: float, rates: Array, threads: int,
) -> list[Array]:  # fmt: skip
    """Return new weight, momentum and velocity of one variable.

        m = m' + (1 - beta_1) (g - m')      v = v' + (1 - beta_2) (g^2 - v')      w = w' - alpha m / (sqrt(v) + epsilon)

    Args:
        gradient: float32, of any shape, like the next three.
        weight: Of the variable.
        momentum: Of the optimizer.
        velocity: Of the optimizer.
        scale: Factor of the gradient.
        alpha: learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) in step t.
        rates: float32 (3,). 1 - beta_1, 1 - beta_2, epsilon.
        threads: At most so many work at once.

    References:
        kingma2015adam
    """
    before = tuple(array.reshape(-1) for array in (weight, momentum, velocity))
    results = [buffers.empty(*weight.shape) for _ in before]
    after = tuple(array.reshape(-1) for array in results)
    parts = max(1, min(threads, weight.size // _WORTH_A_THREAD))
    edges = np.linspace(0, weight.size, parts + 1).astype(np.int64)
    flat, factor, step = gradient.reshape(-1), np.float32(scale), np.float32(alpha)
    run_parts(lambda part: _update(flat, before, after, edges[part], edges[part + 1], factor, step, rates), parts)
    return results
