"""The compare stage: comparison.json, the figures and both forms of the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from elman.artifacts import write_json, write_text
from elman.reporting.calibration import draw_reliability
from elman.reporting.cell_figures import save_figures
from elman.reporting.confusion import draw_confusion
from elman.reporting.curves import draw_curves, loss_limits
from elman.reporting.inputs import ReportInputs, read_inputs
from elman.reporting.intervals import draw_intervals
from elman.reporting.markdown import report_markdown
from elman.reporting.measures import DRAWN
from elman.reporting.page import report_page
from elman.reporting.rows import strongest_bar, trained
from elman.reporting.surprise import NAMES, draw_surprise


def write_comparison(
    *,
    reports: Path,
    task: str,
    cells: Sequence[str],
    dataset: str,
    settings: Mapping[str, Any],
    prepared: Path,
    encoded: Path,
    root: Path,
    command: str | None = None,
) -> dict[str, Any]:
    """Writes a task's comparison.json, report.html, report.md and figures/*.png.

    Args:
        reports: The folder `reports`.
        task: "classifier" or "language_model".
        cells: Cells that were evaluated, in the order shown.
        dataset: What the data set is called.
        settings: The part of params.yaml that these numbers depend on; its hash stands in the report.
        prepared: summary.json of the prepare stage.
        encoded: summary.json of the encode stage.
        root: A folder of the checkout.
        command: What makes these numbers, for the report; None is the pipeline.

    Returns:
        What comparison.json holds.

    Raises:
        ArtifactError: A report is missing, was half written, or is of another version or task. Nothing is written.
    """
    inputs = read_inputs(
        reports=reports,
        task=task,
        cells=cells,
        dataset=dataset,
        settings=settings,
        prepared=prepared,
        encoded=encoded,
        root=root,
        command=command,
    )
    folder = reports / task
    pictures = _pictures(inputs)
    for old in (folder / "figures").glob("*.png"):
        if old.stem not in pictures:
            old.unlink()
    save_figures(pictures, folder / "figures")
    write_text(folder / "report.html", report_page(inputs))
    write_text(folder / "report.md", report_markdown(inputs))
    write_json(folder / "comparison.json", inputs.comparison)
    return dict(inputs.comparison)


def _pictures(inputs: ReportInputs) -> dict[str, Figure]:
    """The figures by file name."""
    pictures = {}
    for measure in DRAWN[inputs.comparison["task"]]:
        bar = strongest_bar(inputs.comparison, measure)
        pictures[measure.key] = draw_intervals(trained(inputs.comparison), measure, bar=bar)
    limits = loss_limits(list(inputs.histories.values()))
    for cell, history in inputs.histories.items():
        pictures[f"curves_{cell}"] = draw_curves(cell, history, limits=limits)
    for cell, classes in inputs.classes.items():
        pictures[f"confusion_{cell}"] = draw_confusion(cell, classes)
    for cell, found in inputs.calibration.items():
        pictures[f"reliability_{cell}"] = draw_reliability(cell, found)
    if inputs.surprise:
        pictures |= {f"surprise_{by}": draw_surprise(inputs.surprise, by) for by in NAMES}
    return pictures
