"""The smallest network in which gradients vanish and explode: two units that rotate."""

from collections.abc import Sequence

import numpy as np

GAINS = (0.5, 0.9, 1.5, 2.0)
STEPS = (1, 5, 10, 20)


def rotation_sizes(
    gain: float, *, steps: Sequence[int] = STEPS, angle: float = 0.8, drive: Sequence[float] = (0.5, -0.3)
) -> list[float]:
    """The size of the Jacobian product after some steps of h = tanh(W h' + x), where W turns the state and scales it.

        W = gain * [[cos a, -sin a], [sin a, cos a]]    J = diag(1 - h^2) W    size = ||J_n ... J_1||_F / sqrt(2)

    with the same input x at every step and h = 0 before the first. Without the tanh the size after n steps would be
    gain^n. The tanh holds it down: with a gain below 1 it only vanishes faster, with a gain above 1 the state is pushed
    to where tanh is flat, so that the size neither grows as gain^n nor stays at 1.

    Args:
        gain: The factor of each step; every singular value of W.
        steps: After how many steps the size is taken.
        angle: Radians that each step turns.
        drive: float (2,). x.

    Returns:
        One size for each of `steps`.

    Example:
        >>> [round(size, 4) for size in rotation_sizes(0.9)]
        [0.7679, 0.0989, 0.0152, 0.0004]

    References:
        pascanu2013difficulty
    """
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    recurrent, state, product = gain * turn, np.zeros(2), np.eye(2)
    sizes = {}
    for step in range(1, max(steps) + 1):
        state = np.tanh(recurrent @ state + np.asarray(drive))
        product = np.diag(1.0 - state**2) @ recurrent @ product
        sizes[step] = float(np.linalg.norm(product) / np.sqrt(2.0))
    return [sizes[step] for step in steps]
