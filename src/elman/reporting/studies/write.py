"""The files of a study: its numbers, its figure, and the tables of its page."""

import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from elman.artifacts import replacing, write_json, write_text
from elman.reporting.cell_figures import DOTS_PER_INCH
from elman.reporting.studies.agreement import draw_agreement
from elman.reporting.studies.gates import draw_gates
from elman.reporting.studies.gradient_flow import draw_gradient_flow
from elman.reporting.studies.regression import draw_regression
from elman.reporting.studies.tables import study_tables

_FIGURES: dict[str, Callable[[Mapping[str, Any]], Figure]] = {
    "adding": draw_regression,
    "reset": draw_regression,
    "gradient-flow": draw_gradient_flow,
    "gates": draw_gates,
    "agreement": draw_agreement,
}
_BEGIN, _END = "<!-- tables: written by the command -->", "<!-- end of tables -->"
_BLOCK = re.compile(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)


def write_study(result: Mapping[str, Any], folder: Path) -> None:
    """Writes `<study>.json` and `<study>.png`, and renews the tables of `<study>.md` where that page is there.

    Args:
        result: What a study returned.
        folder: Made where it is missing.
    """
    name = result["study"]
    write_json(folder / f"{name}.json", result)
    _save_figure(_FIGURES[name](result), folder / f"{name}.png")
    page = folder / f"{name}.md"
    if page.is_file():
        write_text(page, with_tables(page.read_text(encoding="utf-8"), result))


def _save_figure(figure: Figure, path: Path) -> None:
    """Writes a PNG of 256 colours: a third of the room, and it looks the same; Pillow comes with matplotlib."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH)
    with Image.open(buffer) as picture, replacing(path) as temporary:
        picture.convert("RGB").quantize(colors=256).save(temporary, optimize=True)


def with_tables(page: str, result: Mapping[str, Any]) -> str:
    """The page with the tables of the result between its two marks; without marks, the page as it is."""
    block = f"{_BEGIN}\n\n{study_tables(result)}\n\n{_END}"
    return _BLOCK.sub(lambda _: block, page)
