"""How each class fares."""

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
        [label, number(support, 0), *(number(inputs.classes[cell]["f1"][index], 3) for cell in cells)]
        for index, (label, support) in enumerate(zip(first["labels"], first["support"], strict=True))
    ]
    drawings = [
        as_svg(draw_confusion(cell, found, for_page=True), label=f"Confusion of {title(cell)}")
        for cell, found in inputs.classes.items()
    ]
    caption = (
        "Documents: of the test split. F1: mean over seeds. In the figures a row is a true class and its shades add up "
        "to one."
    )
    heads = ["class", "documents", *(f"F1 {title(cell)}" for cell in cells)]
    return section("Classes", table(heads, rows), remark(caption), figures(drawings))
