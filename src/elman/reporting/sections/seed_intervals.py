"""Mean, interval and seeds of each cell as figures."""

from elman.reporting.drawing import as_svg
from elman.reporting.html import figures, remark, section
from elman.reporting.inputs import ReportInputs
from elman.reporting.intervals import draw_intervals
from elman.reporting.measures import DRAWN
from elman.reporting.rows import strongest_bar, trained


def seed_intervals_section(inputs: ReportInputs) -> str:
    """What another seed would change, a figure a measure."""
    drawings = []
    for measure in DRAWN[inputs.comparison["task"]]:
        bar = strongest_bar(inputs.comparison, measure)
        figure = draw_intervals(trained(inputs.comparison), measure, bar=bar, for_page=True)
        drawings.append(as_svg(figure, label=f"{measure.title}: mean, interval and seeds of each cell"))
    caption = (
        "Line: 95 % t interval over seeds. Large mark: mean. Strokes below: the seeds. Dashed: the strongest baseline."
    )
    return section("Intervals over seeds", figures(drawings), remark(caption))
