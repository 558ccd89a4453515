"""The figure of `agreement`: accuracy against the number of nouns between subject and verb."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elman.reporting.drawing import BASELINE_COLOR, style
from elman.reporting.studies.styles import draw_band

_TITLES = {"random": "attractors of random number", "opposite": "all attractors of the other number"}


def draw_agreement(result: Mapping[str, Any]) -> Figure:
    """One panel for random attractors, one for attractors that all have the other number."""
    settings = result["settings"]
    distances = list(range(settings["tested_attractors"] + 1))
    with style(for_page=False):
        figure = Figure(figsize=(9.2, 3.9), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (numbers, words) in zip(panels, _TITLES.items(), strict=True):
            for row in result["rows"]:
                draw_band(axes, distances, row["accuracy"][numbers], name=row["name"], label=row["title"])
            for baseline, line in zip(result["baselines"], ("--", ":"), strict=True):
                axes.plot(
                    distances, baseline["accuracy"][numbers], linestyle=line, color=BASELINE_COLOR, linewidth=1.2,
                    label=f"baseline: {baseline['title']}",
                )  # fmt: skip
            axes.axvspan(-0.3, settings["trained_attractors"] + 0.3, color=BASELINE_COLOR, alpha=0.1, linewidth=0)
            axes.set_xlim(-0.3, distances[-1] + 0.3)
            axes.set_ylim(-0.03, 1.03)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.set_xlabel("attractors k between subject and verb (grey: seen in training)")
            axes.set_title(words, fontsize=9, loc="left")
            axes.grid(linewidth=0.5, alpha=0.6)
        panels[0].set_ylabel("verbs of the right number")
        figure.legend(
            *panels[0].get_legend_handles_labels(), frameon=False, fontsize=8, ncols=4, loc="outside lower center"
        )
    return figure
