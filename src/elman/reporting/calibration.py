"""calibration.json, and the reliability figure drawn from it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from elman.artifacts import read_json
from elman.errors import ArtifactError
from elman.reporting.drawing import BASELINE_COLOR, OTHER_COLOR, style
from elman.reporting.measures import title
from elman.tracking.views import COLORS

FEW = 10  # documents in a bin below which its accuracy is mostly chance


def read_calibration(path: Path) -> dict[str, Any]:
    """Reads calibration.json.

    Raises:
        ArtifactError: It is missing, or was half written.
    """
    value = read_json(path)
    missing = [key for key in ("bins", "temperature", "as_trained", "scaled") if key not in value]
    if missing:
        raise ArtifactError(f"{path}: lacks {', '.join(missing)}; run `dvc repro` to write it anew")
    return dict(value)


def draw_reliability(cell: str, found: Mapping[str, Any], *, for_page: bool = False) -> Figure:
    """Accuracy against confidence, as trained and with the temperature; below it where the documents are.

    Bins with fewer than `FEW` documents are left out of the upper part: their accuracy is mostly chance.

    Args:
        cell: Whose.
        found: calibration.json.
        for_page: True for `as_svg`.
    """
    color = COLORS.get(cell, OTHER_COLOR)
    with style(for_page=for_page):
        figure = Figure(figsize=(3.3, 3.5), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        upper.plot([0, 1], [0, 1], linestyle="--", linewidth=1, color=BASELINE_COLOR)
        for key, mark, name in (("as_trained", "o-", "as trained"), ("scaled", "s:", "with temperature")):
            bins = {part: np.asarray(values) for part, values in found[key]["reliability"].items()}
            shown = bins["documents"] >= FEW
            upper.plot(
                bins["confidence"][shown], bins["accuracy"][shown], mark, color=color, markersize=4, linewidth=1.3,
                markerfacecolor=color if key == "as_trained" else "none", label=name,
            )  # fmt: skip
        upper.set_xlim(0, 1)
        upper.set_ylim(0, 1.02)
        upper.set_ylabel("share that is right")
        upper.set_title(f"{title(cell)}, all seeds", fontsize=10, loc="left")
        upper.legend(frameon=False, fontsize=8, loc="upper left")
        documents = np.asarray(found["as_trained"]["reliability"]["documents"])
        edges = np.arange(len(documents)) / len(documents)
        lower.bar(edges, np.maximum(documents, 0.5), width=1 / len(documents), align="edge", color=color, alpha=0.5)
        lower.set_yscale("log")
        lower.set_ylim(bottom=0.8)
        lower.set_ylabel("documents")
        lower.set_xlabel("probability of the predicted class")
    return figure
