"""The figure of `gradient-flow`: gradient norms, Jacobian sizes against distance, and the rotation example."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elman.reporting.drawing import BASELINE_COLOR, style
from elman.reporting.studies.styles import draw_band

_GAIN_COLORS = ("#85b6e2", "#3b82c4", "#d97706", "#b3361e")
_FLOOR = 1e-26  # where the axis ends at the latest: float32 gives 0 for what is far below


def draw_gradient_flow(result: Mapping[str, Any]) -> Figure:
    """Three panels: sizes against distance, a trained model's beside them where there is one, and the rotation."""
    with style(for_page=False):
        trained = result["trained"]
        figure = Figure(figsize=(12.4 if trained else 9.2, 4.0), layout="constrained")
        panels = list(figure.subplots(1, 3 if trained else 2))
        _draw_initial(panels[0], result)
        if trained:
            _draw_trained(panels[1], trained)
        _draw_rotation(panels[-1], result["rotation"])
        for axes in panels:
            axes.set_yscale("log")
            axes.set_ylim(bottom=max(axes.get_ylim()[0], _FLOOR))
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
            axes.axhline(1.0, color=BASELINE_COLOR, linewidth=1.0, linestyle=":")
            axes.grid(linewidth=0.5, alpha=0.6)
            axes.legend(frameon=False, fontsize=8, loc="lower left")
    return figure


def _draw_initial(axes: Any, result: Mapping[str, Any]) -> None:
    distances = result["settings"]["distances"]
    for row in result["rows"]:
        for state, values in row["jacobian"].items():
            line = "-" if state == "h" else "--"
            draw_band(axes, distances, values, name=row["name"], label=f"{row['title']}, {state}", line=line)
    axes.set_yscale("log")
    axes.set_xlabel("distance T - k, steps")
    axes.set_ylabel("||ds_T / ds_k||_F / sqrt(U)")
    seeds = len(result["settings"]["seeds"])
    axes.set_title(
        f"initial weights: geometric mean over\n{seeds} seeds, band from minimum to maximum", fontsize=9, loc="left"
    )


def _draw_trained(axes: Any, trained: list[Mapping[str, Any]]) -> None:
    for row in trained:
        line = "-" if row["state"] == "h" else "--"
        draw_band(
            axes, row["distances"], row["size"], name=row["cell"], label=f"{row['title']}, {row['state']}", line=line
        )
    axes.set_yscale("log")
    axes.set_xlabel("distance T - k, tokens")
    axes.set_title(
        f"trained model: geometric mean over {trained[0]['places']} places\nof the text, band from minimum to maximum",
        fontsize=9, loc="left",
    )  # fmt: skip


def _draw_rotation(axes: Any, rotation: Mapping[str, Any]) -> None:
    for (gain, sizes), color in zip(rotation["curves"].items(), _GAIN_COLORS, strict=False):
        axes.plot(range(1, len(sizes) + 1), sizes, color=color, linewidth=1.4, label=f"g = {gain}")
    axes.set_xlabel("steps")
    axes.set_ylabel("size of the Jacobian product")
    axes.set_title("two units that rotate, gain g a step:\nh = tanh(W h' + x)", fontsize=9, loc="left")
