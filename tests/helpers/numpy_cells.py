"""Recurrent cells written from their equations, in float64, as the reference for layers and kernels.

Each takes the input of one step and the states before it, and returns the states after it. Weights are Keras' arrays:
kernel (D, G U), recurrent kernel (U, G U), bias.
"""

from collections.abc import Callable, Sequence

import numpy as np

Weights = Sequence[np.ndarray]
States = tuple[np.ndarray, ...]
Cell = Callable[[np.ndarray, States, Weights], States]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def elman(x: np.ndarray, states: States, weights: Weights) -> States:
    """h = tanh(x W + h' U + b) (Elman 1990)."""
    (h,) = states
    kernel, recurrent, bias = weights
    return (np.tanh(x @ kernel + h @ recurrent + bias),)


def lstm(x: np.ndarray, states: States, weights: Weights, *, open_gates: Sequence[str] = ()) -> States:
    """c = f c' + i g, h = o tanh(c) (Gers et al. 2000); a gate named in `open_gates` is 1."""
    h, c = states
    kernel, recurrent, bias = weights
    i, f, g, o = np.split(x @ kernel + h @ recurrent + bias, 4, axis=-1)
    gate = {name: np.ones_like(z) if name in open_gates else sigmoid(z) for name, z in (("i", i), ("f", f), ("o", o))}
    c = gate["f"] * c + gate["i"] * np.tanh(g)
    return gate["o"] * np.tanh(c), c


def lstm_1997(x: np.ndarray, states: States, weights: Weights) -> States:
    """The LSTM of Hochreiter and Schmidhuber (1997): no forget gate, c = c' + i g."""
    return lstm(x, states, weights, open_gates=("f",))


def gru_reset_before(x: np.ndarray, states: States, weights: Weights) -> States:
    """g = tanh(x W_g + b_g + (r h') U_g) (Cho et al. 2014), with Keras' z as the share of the old state."""
    (h,) = states
    kernel, recurrent, bias = weights
    w_z, w_r, w_g = np.split(kernel, 3, axis=-1)
    u_z, u_r, u_g = np.split(recurrent, 3, axis=-1)
    b_z, b_r, b_g = np.split(bias, 3)
    z = sigmoid(x @ w_z + h @ u_z + b_z)
    r = sigmoid(x @ w_r + h @ u_r + b_r)
    g = np.tanh(x @ w_g + (r * h) @ u_g + b_g)
    return (z * h + (1 - z) * g,)


def gru_reset_after(x: np.ndarray, states: States, weights: Weights) -> States:
    """g = tanh(x W_g + b_g + r (h' U_g + e_g)), as in cuDNN, PyTorch and Keras' default."""
    (h,) = states
    kernel, recurrent, (bias, recurrent_bias) = weights
    x_z, x_r, x_g = np.split(x @ kernel + bias, 3, axis=-1)
    q_z, q_r, q_g = np.split(h @ recurrent + recurrent_bias, 3, axis=-1)
    z, r = sigmoid(x_z + q_z), sigmoid(x_r + q_r)
    return (z * h + (1 - z) * np.tanh(x_g + r * q_g),)


def run(cell: Cell, x: np.ndarray, states: States, weights: Weights, mask: np.ndarray) -> tuple[np.ndarray, States]:
    """Return the outputs (B, T, U) and the last states, masked steps repeating the output before them.

    Args:
        cell: One of the cells above.
        x: float (B, T, D).
        states: float (B, U) each. Initial states.
        weights: The weights of the cell.
        mask: bool (B, T). True for a real step.
    """
    output = np.zeros_like(states[0])
    outputs = []
    for step in range(x.shape[1]):
        real = mask[:, step, None]
        new = cell(x[:, step], states, weights)
        states = tuple(np.where(real, after, before) for after, before in zip(new, states, strict=True))
        output = np.where(real, new[0], output)
        outputs.append(output)
    return np.stack(outputs, axis=1), states
