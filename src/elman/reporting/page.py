"""report.html: one page that needs nothing besides itself."""

from collections.abc import Sequence
from html import escape

from elman.reporting.comparison import trained
from elman.reporting.confusion import draw_confusion
from elman.reporting.curves import draw_curves, loss_limits
from elman.reporting.drawing import as_svg
from elman.reporting.facts import SPLITS, data_facts, split_table
from elman.reporting.inputs import ReportInputs
from elman.reporting.intervals import draw_intervals
from elman.reporting.measures import DRAWN, SHOWN, TASK_TITLES, interval, number, title
from elman.reporting.page_style import CSS
from elman.reporting.verdict import strongest_bar, verdict

_TERMS = {
    "classifier": "Accuracy is the share of test documents whose class was found; macro-F1 is the plain mean of the "
    "classes' F1, so a rare class counts as much as a frequent one.",
    "language_model": "Every token and one end mark a document is scored once. Perplexity per token depends on the "
    "tokenizer; perplexity per word and bits per byte do not, and are what models with other tokenizers can be "
    "compared by.",
}


def report_page(inputs: ReportInputs) -> str:
    """The whole page as HTML: verdict, table, intervals, curves, classes, data, and how to make it again."""
    comparison = inputs.comparison
    heading = f"{comparison['dataset']}: {TASK_TITLES[comparison['task']]}"
    sections = [
        f"<h1>{escape(heading)}</h1>",
        f'<p class="soft">{escape(_subtitle(inputs))}</p>',
        _verdict(inputs),
        "<h2>Test results</h2>",
        _results(inputs),
        "<h2>Intervals over seeds</h2>",
        _interval_figures(inputs),
        "<h2>Learning curves</h2>",
        _curves(inputs),
        *(["<h2>Classes</h2>", _classes(inputs)] if inputs.classes else []),
        "<h2>Data</h2>",
        _data(inputs),
        "<h2>How to make it again</h2>",
        _origin(inputs),
    ]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(heading)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>",
            *sections,
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


def _results(inputs: ReportInputs) -> str:
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
    return (
        f'<table class="cards"><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _interval_figures(inputs: ReportInputs) -> str:
    figures = []
    for measure in DRAWN[inputs.comparison["task"]]:
        bar = strongest_bar(inputs.comparison, measure)
        figure = draw_intervals(trained(inputs.comparison), measure, bar=bar, for_page=True)
        figures.append(as_svg(figure, label=f"{measure.title}: mean, interval and seeds of each cell"))
    caption = (
        "Line: 95 % t interval over seeds. Large mark: mean. Strokes below: the seeds. Dashed: the strongest baseline."
    )
    return f"{_figures(figures)}<p class='soft'>{escape(caption)}</p>"


def _curves(inputs: ReportInputs) -> str:
    limits = loss_limits(list(inputs.histories.values()))
    return _figures(
        [
            as_svg(draw_curves(cell, history, limits=limits, for_page=True), label=f"Learning curves of {title(cell)}")
            for cell, history in inputs.histories.items()
        ]
    )


def _classes(inputs: ReportInputs) -> str:
    cells = list(inputs.classes)
    first = inputs.classes[cells[0]]
    rows = [
        [label, number(support, 0), *(number(inputs.classes[cell]["f1"][index], 3) for cell in cells)]
        for index, (label, support) in enumerate(zip(first["labels"], first["support"], strict=True))
    ]
    table = _table(["class", "documents", *(f"F1 {title(cell)}" for cell in cells)], rows)
    figures = [
        as_svg(draw_confusion(cell, found, for_page=True), label=f"Confusion of {title(cell)}")
        for cell, found in inputs.classes.items()
    ]
    caption = (
        "Documents: of the test split. F1: mean over seeds. In the figures a row is a true class and its shades add up "
        "to one."
    )
    return f"{table}<p class='soft'>{escape(caption)}</p>{_figures(figures)}"


def _data(inputs: ReportInputs) -> str:
    rows = [
        [name, *numbers] for name, numbers in split_table(inputs.comparison["task"], inputs.prepared, inputs.encoded)
    ]
    facts = data_facts(inputs.prepared, inputs.encoded)
    return f"{_table(['', *SPLITS], rows)}{_definitions(facts)}"


def _origin(inputs: ReportInputs) -> str:
    commands = "\n".join(inputs.commands)
    return f"{_definitions(inputs.origin)}<pre>{escape(commands)}</pre>"


def _figures(figures: Sequence[str]) -> str:
    return f'<div class="figures">{"".join(f"<figure>{figure}</figure>" for figure in figures)}</div>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _definitions(facts: Sequence[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{escape(value)}</dd>' for name, value in facts)}</dl>"
