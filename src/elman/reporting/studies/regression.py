"""The figure of `adding` and `reset`: learning curves, and every seed's error at the end."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from elman.reporting.drawing import BASELINE_COLOR, style
from elman.reporting.studies.styles import draw_band, look

_TITLES = {"adding": "adding two marked values", "reset": "running sum with resets"}


def draw_regression(result: Mapping[str, Any]) -> Figure:
    """Left the error while training, right the errors at the end, at the length of training and beyond it."""
    rows, settings = result["rows"], result["settings"]
    with style(for_page=False):
        figure = Figure(figsize=(9.6, 3.9), layout="constrained")
        curves, ends = figure.subplots(1, 2, width_ratios=[1.15, 1])
        for row in rows:
            found = np.array([seed["curve"] for seed in row["seeds"]])  # (seeds, checks, 2)
            spreads = [
                {"mean": float(np.exp(np.log(column).mean())), "min": column.min(), "max": column.max()}
                for column in found[:, :, 1].T
            ]
            draw_band(curves, found[0, :, 0].tolist(), spreads, name=row["name"], label=row["title"])
        curves.set_xlabel("training step")
        curves.set_ylabel(f"mean squared error, T = {settings['length']}")
        curves.set_title(
            f"{_TITLES[result['study']]}: geometric mean, band from\nminimum to maximum of the seeds",
            fontsize=9,
            loc="left",
        )
        for place, row in enumerate(rows):
            for name, shift, fill in (("mse", -0.14, None), ("mse_long", 0.14, "none")):
                values = row["measures"][name]["per_seed"]
                ends.plot(
                    values, [place + shift] * len(values), linestyle="none", markersize=5, alpha=0.85,
                    markerfacecolor=fill or look(row["name"])["color"], **look(row["name"]),
                )  # fmt: skip
        ends.set_yticks(range(len(rows)), [row["title"] for row in rows])
        ends.set_ylim(len(rows) - 0.5, -0.5)
        ends.tick_params(axis="y", length=0)
        ends.set_xscale("log")
        ends.set_xlabel("mean squared error after training")
        ends.set_title(
            f"every seed: filled T = {settings['length']},\nhollow T = {settings['long_length']}",
            fontsize=9,
            loc="left",
        )
        curves.set_yscale("log")
        baseline = result["baseline"]["measures"]["mse"]
        for axes, draw in ((curves, curves.axhline), (ends, ends.axvline)):
            draw(baseline, color=BASELINE_COLOR, linestyle="--", linewidth=1.2, label="predicts the mean")
            draw(settings["solved"], color=BASELINE_COLOR, linestyle=":", linewidth=1.2, label=f"{settings['solved']}")
            axes.grid(linewidth=0.5, alpha=0.6)
        figure.legend(
            *curves.get_legend_handles_labels(), frameon=False, fontsize=8, ncols=5, loc="outside lower center"
        )
    return figure
