"""How the cells look in the figures of the studies: the three cells as in reports, the changed LSTMs apart."""

from collections.abc import Sequence
from typing import Any

from elman.reporting.drawing import MARKERS, OTHER_COLOR, OTHER_MARKER
from elman.tracking.views import COLORS

_COLORS = {
    **COLORS,
    "lstm_1997": "#7c4dbd",
    "lstm_input_open": "#c2478f",
    "lstm_output_open": "#5b6b7f",
    "lstm_forget_bias_0": "#85b6e2",
}
_MARKERS = {**MARKERS, "lstm_1997": "^", "lstm_input_open": "v", "lstm_output_open": "P", "lstm_forget_bias_0": "X"}


def look(name: str) -> dict[str, Any]:
    """Colour and marker of a cell, as arguments of matplotlib."""
    return {"color": _COLORS.get(name, OTHER_COLOR), "marker": _MARKERS.get(name, OTHER_MARKER)}


def draw_band(axes: Any, x: Sequence[float], values: Sequence[Any], *, name: str, label: str, line: str = "-") -> None:
    """A line through the means with a band from minimum to maximum.

    Args:
        axes: matplotlib's.
        x: Places.
        values: For each place `mean`, `min` and `max`.
        name: The cell, for its look.
        label: For the legend.
        line: The line's style.
    """
    color = look(name)["color"]
    axes.fill_between(
        x, [value["min"] for value in values], [value["max"] for value in values], color=color, alpha=0.15, linewidth=0
    )
    axes.plot(
        x, [value["mean"] for value in values], linestyle=line, linewidth=1.4, markersize=4, label=label, **look(name)
    )
