"""How fast an LSTM's cell empties, by the bias of its forget gate."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from docs_tools.concepts.look import COLORS, axes_of
from elman.layers.lstm import LSTM

BIASES = (0.0, 1.0, 2.0, 4.0)
STEPS = 20
_SHUT = -1e4  # a bias at which a gate is 0


def values() -> dict[str, Any]:
    """For each forget bias: what is left of a cell content of 1 after each step (T,), and the half-life in steps.

    All weights are zero and the input gate is shut, so that c = f c', with f = sigmoid(bias).
    """
    left, half_lives = {}, {}
    for bias in BIASES:
        layer = LSTM(1, return_state=True, forget_bias=bias)
        layer.build((None, None, 1))
        layer.set_weights([np.zeros((1, 4)), np.zeros((1, 4)), np.array([_SHUT, bias, 0.0, 0.0])])
        h, c = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
        contents = [1.0]
        for _ in range(STEPS):
            _, h, c = layer(np.zeros((1, 1, 1), np.float32), initial_state=[h, c])
            contents.append(np.asarray(c).item())
        left[bias] = np.array(contents)
        half_lives[bias] = float(np.log(0.5) / np.log(contents[1]))
    return {"left": left, "half_lives": half_lives}


def draw(found: dict[str, Any]) -> Figure:
    """A line a bias."""
    figure, (axes,) = axes_of(1)
    for (bias, left), color, marker in zip(found["left"].items(), COLORS, "so^D", strict=True):
        label = f"{bias:g}: f = {left[1]:.3f}, half gone after {found['half_lives'][bias]:.1f} steps"
        axes.plot(range(STEPS + 1), left, color=color, marker=marker, markersize=4, linewidth=1.4, label=label)
    axes.axhline(0.5, color="#8a8f98", linewidth=1.0, linestyle=":")
    axes.set_xlabel("step")
    axes.set_xticks(range(0, STEPS + 1, 5))
    axes.set_ylabel("cell content c")
    axes.set_ylim(0, 1.75)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1.0])
    axes.legend(frameon=False, title="forget bias", loc="upper right", fontsize=8)
    return figure
