"""The confusion figure: what each class was taken for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from elman.artifacts import read_json
from elman.errors import ArtifactError
from elman.reporting.drawing import style
from elman.reporting.measures import title


def read_classes(path: Path) -> dict[str, Any]:
    """Reads per_class.json.

    Raises:
        ArtifactError: It is missing, or was half written.
    """
    value = read_json(path)
    need = ("labels", "precision", "recall", "f1", "support", "confusion")
    missing = [key for key in need if not isinstance(value, dict) or len(value.get(key, [])) == 0]
    if missing:
        raise ArtifactError(f"{path}: lacks {', '.join(missing)}; run `dvc repro` to write it anew")
    return dict(value)


def draw_confusion(cell: str, classes: Mapping[str, Any], *, for_page: bool = False) -> Figure:
    """What each class was taken for: rows are true classes and add up to 1; counts of all seeds stand in small tables.

    Args:
        cell: Whose confusion.
        classes: per_class.json.
        for_page: True for `as_svg`.
    """
    labels = classes["labels"]
    counts = np.asarray(classes["confusion"], np.int64)  # (C, C)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    small = len(labels) <= 12
    side = 1.3 + (0.36 if small else 0.11) * len(labels)
    with style(for_page=for_page):
        figure = Figure(figsize=(side + 0.4, side), layout="constrained")
        axes = figure.subplots()
        axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
        axes.set_title(f"{title(cell)}, all seeds", fontsize=10, loc="left")
        axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=8 if small else 5)
        axes.set_yticks(range(len(labels)), labels, fontsize=8 if small else 5)
        axes.set_xlabel("predicted")
        axes.set_ylabel("true")
        if small:
            for (row, column), count in np.ndenumerate(counts):
                if count:
                    shade = "#ffffff" if shares[row, column] > 0.5 else "#1c1e21"
                    axes.text(column, row, str(count), ha="center", va="center", fontsize=6.5, color=shade)
    return figure
