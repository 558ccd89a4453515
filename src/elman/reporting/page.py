"""report.html: one page that needs nothing besides itself."""

from html import escape

from elman.reporting.html import remark
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import TASK_TITLES
from elman.reporting.page_style import CSS
from elman.reporting.rows import trained
from elman.reporting.sections.calibration import calibration_section
from elman.reporting.sections.classes import classes_section
from elman.reporting.sections.data import data_section
from elman.reporting.sections.intervals import intervals_section
from elman.reporting.sections.learning_curves import learning_curves_section
from elman.reporting.sections.mistakes import mistakes_section
from elman.reporting.sections.origin import origin_section
from elman.reporting.sections.results import results_section
from elman.reporting.sections.surprise import surprise_section
from elman.reporting.verdict import verdict


def report_page(inputs: ReportInputs) -> str:
    """The whole page as HTML; the verdict comes first, then what it rests on, the way back to the numbers last."""
    comparison = inputs.comparison
    heading = f"{comparison['dataset']}: {TASK_TITLES[comparison['task']]}"
    parts = [
        f"<h1>{escape(heading)}</h1>",
        remark(_subtitle(inputs)),
        _verdict(inputs),
        data_section(inputs),
        results_section(inputs),
        intervals_section(inputs),
        learning_curves_section(inputs),
        *([classes_section(inputs), calibration_section(inputs), mistakes_section(inputs)] if inputs.classes else []),
        *([surprise_section(inputs)] if inputs.surprise else []),
        origin_section(inputs),
    ]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(heading)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>",
            *parts,
            "</main>\n</body>\n</html>\n",
        ]
    )


def _subtitle(inputs: ReportInputs) -> str:
    cells = trained(inputs.comparison)
    seeds = sorted({seed for row in cells for seed in row["seeds"]})
    return f"{len(cells)} recurrent cells, seeds {', '.join(map(str, seeds))}, scored on the test split"


def _verdict(inputs: ReportInputs) -> str:
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in verdict(inputs.comparison))
    return f'<div class="verdict">{paragraphs}</div>'
