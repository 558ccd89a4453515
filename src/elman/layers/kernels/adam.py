"""One update of Adam in a single pass over each array, where single operations read and write them about ten times."""

import numpy as np
from numba import njit

from elman.layers.kernels import buffers
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.threads import run_parts

# Below this many numbers a second thread costs more than it saves.
_WORTH_A_THREAD = 65_536
# Numbers that are updated together: few enough for the first level of cache, so that memory is read once.
_BLOCK = 512


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _update_block(
    gradient: Array, weight: Array, momentum: Array, velocity: Array,
    new_weight: Array, new_momentum: Array, new_velocity: Array,
    scale: np.float32, alpha: np.float32, rate_1: np.float32, rate_2: np.float32, epsilon: np.float32,
) -> None:  # fmt: skip
    """Update all numbers of some short arrays, float32 (n,): see `adam`.

    From 0 to n and with one array written in each loop: so the compiler can prove that it may vectorise.
    """
    for j in range(gradient.shape[0]):
        new_momentum[j] = momentum[j] + (gradient[j] * scale - momentum[j]) * rate_1
    for j in range(gradient.shape[0]):
        new_velocity[j] = velocity[j] + (gradient[j] * scale * (gradient[j] * scale) - velocity[j]) * rate_2
    for j in range(gradient.shape[0]):
        new_weight[j] = weight[j] - new_momentum[j] * alpha / (np.sqrt(new_velocity[j]) + epsilon)


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
    for start in range(first, last, _BLOCK):
        stop = min(start + _BLOCK, last)
        weight, momentum, velocity = before[0][start:stop], before[1][start:stop], before[2][start:stop]
        new_weight, new_momentum, new_velocity = after[0][start:stop], after[1][start:stop], after[2][start:stop]
        _update_block(
            gradient[start:stop], weight, momentum, velocity, new_weight, new_momentum, new_velocity,
            scale, alpha, rates[0], rates[1], rates[2],
        )  # fmt: skip


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
