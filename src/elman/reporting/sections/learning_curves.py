"""Learning curves of all seeds."""

from elman.reporting.curves import draw_curves, loss_limits
from elman.reporting.drawing import as_svg
from elman.reporting.html import figures, section
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import title


def learning_curves_section(inputs: ReportInputs) -> str:
    """Loss by epoch, a figure a cell, all on one scale."""
    limits = loss_limits(list(inputs.histories.values()))
    drawings = [
        as_svg(draw_curves(cell, history, limits=limits, for_page=True), label=f"Learning curves of {title(cell)}")
        for cell, history in inputs.histories.items()
    ]
    return section("Learning curves", figures(drawings))
