"""How long the state of a one-unit network remembers one input, by its recurrent weight."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from docs_tools.concepts.look import COLORS, axes_of
from elman.layers.simple_rnn import SimpleRNN

WEIGHTS = (0.5, 1.0, 2.0)
STEPS = 15


def values() -> dict[str, Any]:
    """States (T,) of h = tanh(x + u h') after a 1 at the first step and zeros after it, for each recurrent weight u."""
    inputs = np.zeros((1, STEPS, 1), np.float32)  # (B, T, D)
    inputs[0, 0, 0] = 1.0
    states = {}
    for weight in WEIGHTS:
        layer = SimpleRNN(1, use_bias=False, return_sequences=True)
        layer.build((None, None, 1))
        layer.set_weights([np.array([[1.0]]), np.array([[weight]])])
        states[weight] = np.asarray(layer(inputs)).ravel()
    return {"states": states}


def draw(found: dict[str, Any]) -> Figure:
    """A line a weight."""
    figure, (axes,) = axes_of(1)
    steps = range(1, STEPS + 1)
    for (weight, states), color, marker in zip(found["states"].items(), COLORS, "so^", strict=False):
        axes.plot(steps, states, color=color, marker=marker, markersize=4, linewidth=1.4, label=f"u = {weight:g}")
    axes.set_xlabel("step; the input is 1 at step 1, then 0")
    axes.set_ylabel("state h")
    axes.set_ylim(0, 1)
    axes.legend(frameon=False, title="recurrent weight", loc="upper right", bbox_to_anchor=(1, 0.9))
    return figure
