"""How the figures of the concept pages look: those of the reports, on a white ground."""

from typing import Any

from matplotlib.figure import Figure

from elman.reporting.drawing import style

COLORS = ("#3b82c4", "#d97706", "#7c4dbd", "#5b6b7f")


def axes_of(panels: int, *, height: float = 3.2) -> tuple[Figure, list[Any]]:
    """A figure with panels side by side, each with a light grid."""
    with style(for_page=False):
        figure = Figure(figsize=(3.6 * panels + 1.2, height), layout="constrained")
        found = list(figure.subplots(1, panels, squeeze=False)[0])
    for axes in found:
        axes.grid(linewidth=0.5, alpha=0.6)
        axes.set_axisbelow(True)
    return figure, found
