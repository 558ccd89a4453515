"""How each class fares."""

from collections.abc import Mapping
from typing import Any

from elman.reporting.confusion import draw_confusion
from elman.reporting.drawing import as_svg
from elman.reporting.html import figures, remark, section, table
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import number, title


def classes_section(inputs: ReportInputs) -> str:
    """F1 of each class, and which classes are taken for which."""
    cells = list(inputs.classes)
    first = inputs.classes[cells[0]]
    rows = [
        [label, number(support, 0), *(_f1(inputs.classes[cell], index) for cell in cells)]
        for index, (label, support) in enumerate(zip(first["labels"], first["support"], strict=True))
    ]
    drawings = [
        as_svg(draw_confusion(cell, found, for_page=True), label=f"Confusion of {title(cell)}")
        for cell, found in inputs.classes.items()
    ]
    caption = (
        "Documents: of the test split. F1: mean ± half the width of the 95 % t interval over seeds, and in brackets "
        "the 95 % bootstrap interval over documents. In the figures a row is a true class and its shades add up to one."
    )
    heads = ["class", "documents", *(f"F1 {title(cell)}" for cell in cells)]
    return section("Classes", table(heads, rows), remark(caption), figures(drawings))


def _f1(classes: Mapping[str, Any], index: int) -> str:
    seeds, documents = classes["f1_seeds"][index], classes["f1_documents"][index]
    shown = number(classes["f1"][index], 3)
    shown += "" if seeds is None else f" ± {number((seeds[1] - seeds[0]) / 2, 3)}"
    return shown + ("" if documents is None else f" ({number(documents[0], 2)} to {number(documents[1], 2)})")
