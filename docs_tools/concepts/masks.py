"""What padding does to a layer that is told of it, and to one that is not."""

from typing import Any

import keras
import numpy as np
from matplotlib.figure import Figure

from docs_tools.concepts.look import COLORS, axes_of
from elman.layers.gru import GRU

REAL, STEPS = 4, 12


def values() -> dict[str, Any]:
    """Outputs (T,) of one unit over 4 real steps and 8 of padding, with the mask and without."""
    keras.utils.set_random_seed(1)
    layer = GRU(4, return_sequences=True)
    inputs = np.full((1, STEPS, 2), 1.5, np.float32)  # (B, T, D); what stands in the padding is any number
    inputs[:, :REAL] = np.random.default_rng(1).normal(size=(1, REAL, 2))
    mask = keras.ops.convert_to_tensor(np.arange(STEPS)[None] < REAL)  # (B, T)
    return {
        "masked": np.asarray(layer(inputs, mask=mask))[0, :, 0],
        "unmasked": np.asarray(layer(inputs))[0, :, 0],
    }


def draw(found: dict[str, Any]) -> Figure:
    """Both lines over the steps, the padding shaded."""
    figure, (axes,) = axes_of(1)
    steps = np.arange(1, STEPS + 1)
    axes.axvspan(REAL + 0.5, STEPS + 0.5, color="#8a8f98", alpha=0.15, linewidth=0)
    lines = (("unmasked", "without a mask", "^"), ("masked", "with the mask", "o"))
    for (name, label, marker), color in zip(lines, reversed(COLORS[:2]), strict=True):
        axes.plot(steps, found[name], color=color, marker=marker, markersize=4, linewidth=1.4, label=label)
    axes.set_xlim(0.5, STEPS + 0.5)
    axes.set_xticks([1, 4, 8, 12])
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.35 * (high - low))
    axes.text(REAL + 0.8, high + 0.32 * (high - low), "padding", va="top", fontsize=9)
    axes.set_xlabel("step")
    axes.set_ylabel("output of one unit")
    axes.legend(frameon=False, loc="upper right")
    return figure
