"""Where the language models are surprised, as figures: by position in the document, by frequency in train."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from elman.artifacts import read_json
from elman.errors import ArtifactError
from elman.reporting.drawing import BASELINE_COLOR, MARKERS, OTHER_COLOR, OTHER_MARKER, style
from elman.reporting.measures import title
from elman.tracking.views import COLORS

# Lists of bands in surprise.json, and what each goes by.
NAMES = {"by_position": "position in the document", "by_train_count": "count of the token in train"}
_LISTS = (*NAMES, "documents")


def read_surprise(path: Path) -> dict[str, Any]:
    """Reads surprise.json.

    Raises:
        ArtifactError: It is missing, of another version, or was half written.
    """
    value = read_json(path)
    if not isinstance(value, dict) or value.get("version") != 1:
        raise ArtifactError(f"{path}: version 1 is read here; run `dvc repro` to write it anew")
    if wrong := [name for name in _LISTS if not isinstance(value.get(name), list)]:
        raise ArtifactError(f"{path}: lacks {', '.join(wrong)}; it was half written: run `dvc repro` to write it anew")
    return value


def draw_surprise(surprise: Mapping[str, Mapping[str, Any]], by: str, *, for_page: bool = False) -> Figure:
    """Nats per token by band, a line for each cell, and one for Kneser-Ney; a band without tokens is left out.

    Args:
        surprise: What `read_surprise` returns, by cell; the bands are those of the test split, the same for all.
        by: "by_position" or "by_train_count".
        for_page: True for `as_svg`.
    """
    bands = [band for band in next(iter(surprise.values()))[by] if band["num_tokens"]]
    with style(for_page=for_page):
        figure = Figure(figsize=(4.2, 2.7), layout="constrained")
        axes = figure.subplots()
        for cell, own in surprise.items():
            means = [band["nats_per_token"] for band in own[by] if band["num_tokens"]]
            color, marker = COLORS.get(cell, OTHER_COLOR), MARKERS.get(cell, OTHER_MARKER)
            axes.plot(means, marker=marker, color=color, linewidth=1.4, markersize=4, label=title(cell))
        baseline = [band["kneser_ney"]["nats_per_token"] for band in bands]
        axes.plot(baseline, linestyle="--", color=BASELINE_COLOR, linewidth=1.4, label=title("kneser_ney"))
        axes.set_xticks(range(len(bands)), _labels(bands), fontsize=7.5)
        axes.set_xlabel(f"{NAMES[by]}, up to; below: share of tokens")
        axes.set_ylabel("nats per token")
        axes.grid(linewidth=0.5, alpha=0.6)
        axes.legend(frameon=False, fontsize=8, handlelength=1.8)
    return figure


def _labels(bands: Sequence[Mapping[str, Any]]) -> list[str]:
    """The last value of each band, and below it how many of all tokens lie there."""
    total = sum(band["num_tokens"] for band in bands)
    labels = []
    for band in bands:
        last = "more" if band["last"] is None else f"{band['last']:,}"
        percent = 100.0 * band["num_tokens"] / total
        labels.append(f"{last}\n{percent:.0f}%" if percent >= 0.5 else f"{last}\n<1%")
    return labels
