"""The interval figure: mean, intervals and seeds of each cell beside the baseline."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from elman.reporting.drawing import BASELINE_COLOR, MARKERS, OTHER_COLOR, OTHER_MARKER, style
from elman.reporting.measures import Measure, number, title
from elman.tracking.views import COLORS


def draw_intervals(
    rows: Sequence[Mapping[str, Any]], measure: Measure, *, bar: tuple[str, float] | None, for_page: bool = False
) -> Figure:
    """Mean, both intervals and every seed of one measure, a line for each cell, and the baseline's value.

    Where the baseline is far from the cells, the axis is broken: on one scale the cells could not be told apart.

    Args:
        rows: Rows of cells in comparison.json.
        measure: What is drawn.
        bar: Name and value of the baseline.
        for_page: True for `as_svg`.
    """
    known = [row for row in rows if row["measures"][measure.key]["mean"] is not None]
    ends = [value for row in known for value in _extent(row["measures"][measure.key])] or [0.0, 1.0]
    low, high = min(ends), max(ends)
    pad = 0.08 * (high - low) or abs(high) * 0.01 or 1.0
    far = bar is not None and not (low - 4 * pad <= bar[1] <= high + 4 * pad)
    if bar is not None and not far:
        low, high = min(low, bar[1]), max(high, bar[1])
    with style(for_page=for_page):
        figure = Figure(figsize=(4.7, 0.9 + 0.42 * len(rows)), layout="constrained")
        if far and bar is not None:
            axes = _broken_axes(figure, bar, bar_is_left=bar[1] < low)
        else:
            axes = figure.subplots()
            if bar is not None:
                _draw_bar(axes, bar)
        axes.set_xlim(low - pad, high + pad)
        for place, row in enumerate(rows):
            _draw_row(axes, row, row["measures"][measure.key], place)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), [title(row["name"]) for row in rows])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", linewidth=0.5, alpha=0.6)
        axes.set_xlabel(f"{measure.title} ({'lower' if measure.lower_is_better else 'higher'} is better)")
    return figure


def _extent(values: Mapping[str, Any]) -> list[float]:
    documents = values.get("documents", {})
    ends = [values["low"], values["high"], documents.get("low"), documents.get("high"), *values["per_seed"]]
    return [float(end) for end in ends if end is not None]


def _draw_row(axes: Any, row: Mapping[str, Any], values: Mapping[str, Any], place: int) -> None:
    color, marker = COLORS.get(row["name"], OTHER_COLOR), MARKERS.get(row["name"], OTHER_MARKER)
    if values["mean"] is None:
        axes.annotate("no finite value", (0.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=8)
        return
    if values["low"] is not None:
        axes.plot([values["low"], values["high"]], [place, place], color=color, linewidth=2, solid_capstyle="butt")
    documents = values.get("documents", {})
    if documents.get("low") is not None:
        ends = [documents["low"], documents["high"]]
        axes.plot(ends, [place - 0.22] * 2, color=color, linewidth=1, linestyle=(0, (4, 1.5)), solid_capstyle="butt")
    seeds = [value for value in values["per_seed"] if value is not None]
    axes.plot(seeds, [place + 0.25] * len(seeds), "|", color=color, markersize=6, markeredgewidth=1.2)
    axes.plot(values["mean"], place, marker, color=color, markersize=6)


def _draw_bar(axes: Any, bar: tuple[str, float]) -> None:
    axes.axvline(bar[1], color=BASELINE_COLOR, linestyle="--", linewidth=1.2)
    axes.annotate(
        title(bar[0]), (bar[1], 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2), textcoords="offset points",
        ha="center", va="bottom", fontsize=8,
    )  # fmt: skip


def _broken_axes(figure: Figure, bar: tuple[str, float], *, bar_is_left: bool) -> Any:
    """Axes for the cells beside narrow ones that hold only the baseline; two strokes mark the break."""
    axes: Sequence[Any] = figure.subplots(1, 2, width_ratios=[1, 6] if bar_is_left else [6, 1])
    narrow, wide = axes if bar_is_left else axes[::-1]
    _draw_bar(narrow, bar)
    narrow.set_xlim(bar[1] - 1, bar[1] + 1)
    narrow.set_xticks([bar[1]], [number(bar[1], 3 if abs(bar[1]) < 10 else 0)])
    narrow.set_yticks([])
    narrow.spines["left"].set_visible(False)
    strokes = {"marker": [(-0.5, -1), (0.5, 1)], "markersize": 7, "linestyle": "none", "clip_on": False}
    edges = [(narrow, 1.0), (wide, 0.0)] if bar_is_left else [(narrow, 0.0), (wide, 1.0)]
    for side, edge in edges:
        side.plot([edge], [0], transform=side.transAxes, color=BASELINE_COLOR, mew=1.2, **strokes)
    wide.spines["left"].set_visible(not bar_is_left)
    return wide
