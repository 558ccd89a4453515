"""The picture of `gates`: what each gate of each unit is at each token."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from elman.reporting.drawing import style


def draw_gates(result: Mapping[str, Any]) -> Figure:
    """A panel for each gate of each layer: tokens to the right, units upwards in the order of what they keep."""
    pictures = [
        (
            f"{row['title']}: {name} gate" if row["gates"] else f"{row['title']}: outputs",
            np.array(values),
            bool(row["gates"]),
        )
        for row in result["rows"]
        for name, values in row["picture"].items()
    ]
    tokens = [_label(token) for token in result["tokens"]]
    with style(for_page=False):
        height = 0.8 + 1.75 * len(pictures)
        figure = Figure(figsize=(max(5.0, 2.2 + 0.19 * len(tokens)), height), layout="constrained")
        panels = np.atleast_1d(figure.subplots(len(pictures), 1, sharex=True))
        for axes, (heading, values, is_gate) in zip(panels, pictures, strict=True):
            image = axes.imshow(
                values.T, aspect="auto", interpolation="nearest", origin="lower",
                cmap="viridis" if is_gate else "RdBu_r", vmin=0.0 if is_gate else -1.0, vmax=1.0,
            )  # fmt: skip
            axes.set_title(heading, fontsize=9, loc="left")
            axes.set_ylabel("units, those that\nkeep longest on top", fontsize=8)
            axes.set_yticks([])
            figure.colorbar(image, ax=axes, pad=0.01, ticks=[0, 0.5, 1] if is_gate else [-1, 0, 1])
        panels[-1].set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=7)
        panels[-1].tick_params(axis="x", length=0)
    return figure


def _label(token: str) -> str:
    """A token as text that matplotlib does not take for mathematics."""
    return token.replace("▁", "·").replace("$", r"\$")
