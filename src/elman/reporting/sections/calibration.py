"""What a classifier's probabilities are worth."""

from elman.reporting.calibration import FEW, draw_reliability
from elman.reporting.drawing import as_svg
from elman.reporting.html import figures, remark, section, table
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import number, plus_minus, title


def calibration_section(inputs: ReportInputs) -> str:
    """Calibration error before and after the temperature that validation gives, and the reliability figures."""
    rows = []
    for cell, found in inputs.calibration.items():
        before, after = found["as_trained"], found["scaled"]
        rows.append(
            [
                title(cell),
                plus_minus(before["expected_calibration_error"], 4),
                plus_minus(before["nll_nats_per_document"], 4),
                plus_minus(found["temperature"], 2),
                plus_minus(after["expected_calibration_error"], 4),
                plus_minus(after["nll_nats_per_document"], 4),
            ]
        )
    heads = ["model", "calibration error", "NLL", "temperature", "error with it", "NLL with it"]
    bins = next(iter(inputs.calibration.values()))["bins"]
    caption = (
        f"Expected calibration error, {number(bins, 0)} bins of equal width: how far confidence and accuracy lie "
        "apart. NLL: nats a document. The temperature divides the logits, is found on validation, and changes no "
        "predicted class. "
        f"In the figures dots on the dashed line are calibrated; bins with fewer than {FEW} documents are left out."
    )
    drawings = [
        as_svg(draw_reliability(cell, found, for_page=True), label=f"Reliability of {title(cell)}")
        for cell, found in inputs.calibration.items()
    ]
    return section("Calibration", table(heads, rows), remark(caption), figures(drawings))
