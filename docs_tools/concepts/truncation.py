"""How far gradients reach when a text is trained on in windows with carried state."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

from docs_tools.concepts.look import COLORS, axes_of
from elman.layers.lstm import LSTM

STEPS, WINDOW = 60, 20


def values() -> dict[str, Any]:
    """Norms (T,) of d(sum of h_T) / d x_k for each step k, whole and in windows, and the two last outputs (U,)."""
    keras.utils.set_random_seed(1)
    layer = LSTM(16, forget_bias=3.0, return_sequences=True, return_state=True)
    inputs = tf.constant(np.random.default_rng(1).normal(size=(1, STEPS, 8)), tf.float32)  # (B, T, D)
    whole, whole_last = _norms(layer, inputs, window=STEPS)
    cut, cut_last = _norms(layer, inputs, window=WINDOW)
    return {"whole": whole, "cut": cut, "whole_last": whole_last, "cut_last": cut_last}


def _norms(layer: LSTM, inputs: tf.Tensor, *, window: int) -> tuple[np.ndarray, np.ndarray]:
    states = [tf.zeros((1, layer.units))] * 2
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        for start in range(0, STEPS, window):
            states = [tf.stop_gradient(state) for state in states]  # carried as numbers, not as functions
            outputs, *states = layer(inputs[:, start : start + window], initial_state=states)
        total = tf.reduce_sum(outputs[:, -1])
    gradient = tape.gradient(total, inputs)  # (B, T, D)
    return np.linalg.norm(np.asarray(gradient)[0], axis=-1), np.asarray(outputs)[0, -1]


def draw(found: dict[str, Any]) -> Figure:
    """Norms against the step."""
    figure, (axes,) = axes_of(1)
    steps = np.arange(1, STEPS + 1)
    axes.plot(steps, found["whole"], color=COLORS[0], linewidth=1.4, label="through the whole text")
    label = f"in windows of {WINDOW} steps"
    axes.plot(steps, found["cut"], color=COLORS[1], linewidth=0, marker="o", markersize=3.5, label=label)
    for border in range(WINDOW, STEPS, WINDOW):
        axes.axvline(border + 0.5, color="#8a8f98", linewidth=1.0, linestyle=":")
    axes.set_xlabel(f"step k of {STEPS}; dotted: where a window ends")
    axes.set_ylabel(f"norm of d h_{STEPS} / d x_k")
    axes.legend(frameon=False, loc="upper left")
    return figure
