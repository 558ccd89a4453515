"""Draws what `make reproduce` measured, beside what was published: `python benchmarks/reproduction_curves.py`.

Takes every preset with a published perplexity that has been run in `reproduce/`, and writes docs/results/ptb-curve.png.
"""

import argparse
import csv
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from elman.artifacts import read_json
from elman.errors import ArtifactError
from elman.reporting.cell_figures import save_figures
from elman.reporting.drawing import style
from elman.stages import run_stage

ROOT = Path(__file__).resolve().parents[1]
COLORS = ("#2a6fbb", "#c4572e", "#3f8f5b", "#8b6fc0")
TOP = 260  # perplexity; the first epoch may lie above it


def main() -> None:
    """Reads the results, writes the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "reproduce", help="where `make reproduce` worked")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "ptb-curve.png", help="the figure")
    arguments = parser.parse_args()
    results = [read_json(path) for path in sorted(arguments.results.glob("*/result.json"))]
    results = [result for result in results if (result["published"] or {}).get("measure") == "perplexity"]
    if not results:
        raise ArtifactError(f"{arguments.results}: holds no result; run `make reproduce PRESET=... DATA=...` first")
    save_figures({arguments.out.stem: draw(results, arguments.results)}, arguments.out.parent)
    print(arguments.out)


def draw(results: list[dict[str, Any]], folder: Path) -> Figure:
    """Perplexity on validation by epoch, a line a seed; to the right of each, the figures on test."""
    with style(for_page=False):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        handles = []
        for color, result in zip(COLORS, results, strict=False):
            last = 0
            for row in result["rows"]:
                for epochs, perplexity in curves(folder / result["preset"], row["name"]):
                    axes.plot(epochs, perplexity, color=color, linewidth=1.4)
                    last = max(last, epochs[-1])
                ours = row["measures"]["perplexity"]["mean"]
                axes.plot(last + 0.3, ours, "o", color=color, markersize=6)
            axes.plot(last + 0.3, result["published"]["value"], "o", color=color, markersize=9, fillstyle="none")
            handles.append(Line2D([], [], color=color, label=f"{result['preset']}, validation"))
        grey = "#4a4d52"
        handles.append(Line2D([], [], color=grey, marker="o", linestyle="", label="test, ours"))
        hollow = {"marker": "o", "markersize": 9, "fillstyle": "none", "linestyle": ""}
        handles.append(Line2D([], [], color=grey, label="test, published", **hollow))
        axes.legend(handles=handles, frameon=False, fontsize=8)
        axes.set_xlabel("epoch")
        axes.set_ylabel("perplexity")
        axes.set_ylim(top=min(TOP, axes.get_ylim()[1]))
        axes.grid(linewidth=0.5, alpha=0.6)
    return figure


def curves(folder: Path, cell: str) -> list[tuple[list[int], list[float]]]:
    """Epochs and perplexity on validation of each seed."""
    path = folder / "reports" / "language_model" / "cells" / cell / "history.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    seeds = dict.fromkeys(row["seed"] for row in rows)
    own = [[row for row in rows if row["seed"] == seed] for seed in seeds]
    return [([int(row["epoch"]) for row in part], [float(row["valid_perplexity"]) for row in part]) for part in own]


if __name__ == "__main__":
    run_stage("reproduction_curves", main)
