"""Mean, intervals and seeds of each cell as figures."""

from elman.reporting.drawing import as_svg
from elman.reporting.html import figures, remark, section
from elman.reporting.inputs import ReportInputs
from elman.reporting.intervals import draw_intervals
from elman.reporting.measures import DRAWN
from elman.reporting.rows import strongest_bar, trained


def intervals_section(inputs: ReportInputs) -> str:
    """What another seed and other documents would change, a figure a measure."""
    drawings = []
    for measure in DRAWN[inputs.comparison["task"]]:
        bar = strongest_bar(inputs.comparison, measure)
        figure = draw_intervals(trained(inputs.comparison), measure, bar=bar, for_page=True)
        drawings.append(as_svg(figure, label=f"{measure.title}: mean, intervals and seeds of each cell"))
    caption = (
        "Thick line: 95 % t interval over seeds. Thin line above it: 95 % bootstrap interval over documents. Large "
        "mark: mean. Strokes below: the seeds. Grey and dashed: the strongest baseline."
    )
    return section("Intervals", figures(drawings), remark(caption))
