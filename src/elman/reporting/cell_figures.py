"""The figures of one cell, drawn by the stage that evaluates it.

Apart from the report page, so that a change of the page does not evaluate the models again.
"""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from elman.artifacts import replacing
from elman.reporting.confusion import draw_confusion, read_classes
from elman.reporting.curves import draw_curves, read_history

DOTS_PER_INCH = 160


def write_cell_figures(folder: Path, *, task: str, cell: str) -> None:
    """Draws one cell's learning curves and confusion from its own tables, for the cell's run.

    Args:
        folder: reports/<task>/cells/<cell>; the figures go to its folder `figures`.
        task: "classifier" or "language_model".
        cell: The cell.

    Raises:
        ArtifactError: history.csv or per_class.json is missing or was half written.
    """
    pictures = {"curves": draw_curves(cell, read_history(folder / "history.csv"))}
    if task == "classifier":
        pictures["confusion"] = draw_confusion(cell, read_classes(folder / "per_class.json"))
    save_figures(pictures, folder / "figures")


def save_figures(pictures: Mapping[str, Figure], folder: Path) -> None:
    """Writes figures as PNG, each whole or not at all."""
    for name, figure in pictures.items():
        with replacing(folder / f"{name}.png") as path:
            figure.savefig(path, dpi=DOTS_PER_INCH)
