"""Learning curves: loss on train and validation by epoch, one line a seed."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elman.errors import ArtifactError
from elman.reporting.drawing import OTHER_COLOR, style
from elman.reporting.measures import title
from elman.tracking.views import COLORS

History = dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]]


def read_history(path: Path) -> History:
    """Reads history.csv: for each seed epochs int64 (E,), train loss and validation loss float64 (E,), NaN for a gap.

    Raises:
        ArtifactError: The file is missing, empty, or lacks a column.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError:
        raise ArtifactError(f"{path}: no such file; run `dvc repro` to make it") from None
    missing = {"seed", "epoch", "train_loss", "valid_loss"} - set(rows[0] if rows else ())
    if missing:
        raise ArtifactError(f"{path}: no rows with {', '.join(sorted(missing))}; run `dvc repro` to write it anew")
    history: History = {}
    for seed in dict.fromkeys(row["seed"] for row in rows):
        own = [row for row in rows if row["seed"] == seed]
        train, valid = (
            np.array([float(row[name] or math.nan) for row in own]) for name in ("train_loss", "valid_loss")
        )
        history[int(seed)] = (np.array([int(row["epoch"]) for row in own]), train, valid)
    return history


def loss_limits(histories: Sequence[History]) -> tuple[float, float] | None:
    """Common ends for the loss axes of several cells; None where nothing is finite."""
    losses = [loss for history in histories for _, train, valid in history.values() for loss in (train, valid)]
    values = np.concatenate([np.zeros(0), *losses])
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return None
    room = 0.05 * float(np.ptp(finite)) or 0.5
    return float(finite.min()) - room, float(finite.max()) + room


def draw_curves(
    cell: str, history: History, *, limits: tuple[float, float] | None = None, for_page: bool = False
) -> Figure:
    """Loss on train and validation by epoch, one line a seed.

    Args:
        cell: Whose curves.
        history: What `read_history` returns.
        limits: Ends of the loss axis, so that cells side by side share it.
        for_page: True for `as_svg`.
    """
    color = COLORS.get(cell, OTHER_COLOR)
    with style(for_page=for_page):
        figure = Figure(figsize=(3.6, 2.5), layout="constrained")
        axes = figure.subplots()
        for index, (epochs, train, valid) in enumerate(history.values()):
            last = index == len(history) - 1
            mark = "o" if len(epochs) == 1 else None  # a line of one point cannot be seen
            axes.plot(epochs, train, color=color, linewidth=1, linestyle="--", marker=mark, fillstyle="none",
                      label="train" if last else None)  # fmt: skip
            axes.plot(epochs, valid, color=color, linewidth=1.4, marker=mark, label="validation" if last else None)
        axes.set_title(title(cell), fontsize=10, loc="left")
        axes.set_xlabel("epoch")
        axes.set_ylabel("loss, nats")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if limits is not None:
            axes.set_ylim(*limits)
        axes.grid(linewidth=0.5, alpha=0.6)
        axes.legend(frameon=False, fontsize=8)
    return figure
