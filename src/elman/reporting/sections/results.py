"""The table of all rows: the baselines, then the cells."""

from html import escape

from elman.reporting.html import section
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import SHOWN, interval, number, title

_TERMS = {
    "classifier": "Accuracy is the share of test documents whose class was found; macro-F1 is the plain mean of the "
    "classes' F1, so a rare class counts as much as a frequent one.",
    "language_model": "Every token and one end mark a document is scored once. Perplexity per token depends on the "
    "tokenizer; perplexity per word and bits per byte do not, and are what models with other tokenizers can be "
    "compared by.",
}


def results_section(inputs: ReportInputs) -> str:
    """Every measure with its interval, and what it cost."""
    measures = SHOWN[inputs.comparison["task"]]
    heads = ["parameters", "seeds", *(measure.title for measure in measures), "training seconds", "tokens a second"]
    rows = []
    for row in inputs.comparison["rows"]:
        cells = []
        for measure in measures:
            values = row["measures"].get(measure.key, {})
            ends = f"<small>{interval(values, measure.decimals)}</small>" if "low" in values else ""
            cells.append(f"<span>{number(values.get('mean'), measure.decimals)}{ends}</span>")
        if row["kind"] == "cell":
            cells = [number(row["parameters"], 0), str(len(row["seeds"])), *cells]
            cells += [number(row["train_seconds"], 1), number(row["tokens_per_second"], 0)]
        else:
            cells = ["", "", *cells, "", ""]
        filled = "".join(f'<td data-label="{escape(h)}">{cell}</td>' for h, cell in zip(heads, cells, strict=True))
        rows.append(f'<tr class="{row["kind"]}"><th scope="row">{escape(title(row["name"]))}</th>{filled}</tr>')
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("model", *heads))
    caption = f"Mean over seeds, and the 95 % t interval over seeds. {_TERMS[inputs.comparison['task']]}"
    return section(
        "Test results",
        f'<table class="cards"><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>",
    )
