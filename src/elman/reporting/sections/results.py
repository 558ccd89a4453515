"""The tables of all rows: what was reached, and what it cost."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from elman.reporting.costs import COSTS, costs
from elman.reporting.html import remark, section
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import SHOWN, Measure, interval, number, title
from elman.reporting.mixtures import mixture_note

_TERMS = {
    "classifier": "Accuracy is the share of test documents whose class was found; macro-F1 is the plain mean of the "
    "classes' F1, so a rare class counts as much as a frequent one.",
    "language_model": "Every token and one end mark a document is scored once. Perplexity per token depends on the "
    "tokenizer; perplexity per word and bits per byte do not, and are what models with other tokenizers can be "
    "compared by.",
}


def results_section(inputs: ReportInputs) -> str:
    """Every measure with both of its intervals, and under it what each row cost."""
    task = inputs.comparison["task"]
    rows = inputs.comparison["rows"]
    measures = SHOWN[task]
    reached = [[_measure(row, measure) for measure in measures] for row in rows]
    caption = (
        "Mean over seeds. Below it the 95 % intervals: over seeds (t), what another training would change; over "
        f"documents (bootstrap, 2,000 resamples), what another test set would change. {_TERMS[task]}"
    )
    if note := mixture_note(inputs.comparison):
        caption += f" {note}"
    priced = [row for row in rows if any(costs(row))]
    spent = [[escape(value) for value in costs(row)] for row in priced]
    return section(
        "Test results",
        _cards([measure.title for measure in measures], rows, reached),
        remark(caption),
        _cards(COSTS, priced, spent),
        remark("What each row cost: means over seeds. Tried settings: how many a search or a grid chose among."),
    )


def _measure(row: Mapping[str, Any], measure: Measure) -> str:
    values = row["measures"].get(measure.key, {})
    ends = ""
    if values.get("low") is not None:
        ends += f"<small>seeds {interval(values, measure.decimals)}</small>"
    if values.get("documents", {}).get("low") is not None:
        ends += f"<small>documents {interval(values['documents'], measure.decimals)}</small>"
    return f"<span>{number(values.get('mean'), measure.decimals)}{ends}</span>"


def _cards(heads: Sequence[str], rows: Sequence[Mapping[str, Any]], cells: Sequence[Sequence[str]]) -> str:
    """A table that becomes one card a row on a phone."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("model", *heads))
    body = []
    for row, values in zip(rows, cells, strict=True):
        name = escape(title(row["name"])).replace(" + ", " <wbr>+ ")  # the one place where a name may go on below
        filled = "".join(f'<td data-label="{escape(h)}">{value}</td>' for h, value in zip(heads, values, strict=True))
        body.append(f'<tr class="{row["kind"]}"><th scope="row">{name}</th>{filled}</tr>')
    table = f'<table class="cards"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
    return f'<div class="wide">{table}</div>'
