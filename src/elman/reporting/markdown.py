"""report.md: the comparison as a comment under a pull request."""

from collections.abc import Mapping, Sequence
from typing import Any

from elman.reporting.costs import COSTS, costs
from elman.reporting.facts import SPLITS, data_facts, data_sentence, label_table, length_table, split_table
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import DRAWN, SHOWN, TASK_TITLES, interval, plus_minus, title
from elman.reporting.mixtures import mixture_note
from elman.reporting.surprise import NAMES
from elman.reporting.verdict import verdict

_LEGEND = (
    "Test split. Mean ± half the width of the 95 % t interval over seeds; in brackets the 95 % bootstrap interval over "
    "documents. Below: what each row cost."
)


def report_markdown(inputs: ReportInputs) -> str:
    """Verdict, data, table, figures by relative path and origin as Markdown."""
    comparison = inputs.comparison
    task = comparison["task"]
    lines = [f"## {_text(comparison['dataset'])}: {TASK_TITLES[task]}", "", _text(" ".join(verdict(comparison))), ""]
    lines += [_text(data_sentence(inputs.prepared)), "", *_data(inputs), ""]
    legend = " ".join([_LEGEND, *([_text(note)] if (note := mixture_note(comparison)) else [])])
    lines += [*_results(inputs), "", legend, "", *_costs(inputs), ""]
    lines += [f"![{measure.title}](figures/{measure.key}.png)" for measure in DRAWN[task]]
    if inputs.surprise:
        lines += [f"![Nats per token by {name}](figures/surprise_{by}.png)" for by, name in NAMES.items()]
    lines += ["", "<details><summary>Origin</summary>", ""]
    lines += [f"- {name}: {_text(value)}" for name, value in inputs.origin]
    lines += [f"- again: `{' && '.join(inputs.commands)}`", "", "</details>"]
    return "\n".join(lines) + "\n"


def _data(inputs: ReportInputs) -> list[str]:
    task = inputs.comparison["task"]
    tables = [*split_table(task, inputs.prepared, inputs.encoded), *length_table(inputs.prepared, inputs.encoded)]
    rows = [[name, *numbers] for name, numbers in tables]
    lines = ["<details><summary>Data</summary>", "", *_table(["", *SPLITS], rows), ""]
    if task == "classifier" and inputs.prepared.get("labels"):
        lines += [*_table(["label", *SPLITS], label_table(inputs.prepared)), ""]
    lines += [f"- {name}: {_text(value)}" for name, value in data_facts(inputs.prepared, inputs.encoded)]
    return [*lines, "", "</details>"]


def _results(inputs: ReportInputs) -> list[str]:
    measures = SHOWN[inputs.comparison["task"]]
    rows = [
        [
            title(row["name"]),
            *(_measure(row["measures"].get(measure.key, {}), measure.decimals) for measure in measures),
        ]
        for row in inputs.comparison["rows"]
    ]
    return _table(["model", *(measure.title for measure in measures)], rows)


def _measure(values: Mapping[str, Any], decimals: int) -> str:
    documents = values.get("documents", {})
    ends = "" if documents.get("low") is None else f" ({interval(documents, decimals)})"
    return f"{plus_minus(values, decimals)}{ends}"


def _costs(inputs: ReportInputs) -> list[str]:
    return _table(
        ["model", *COSTS], [[title(row["name"]), *costs(row)] for row in inputs.comparison["rows"] if any(costs(row))]
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---", *(["---:"] * (len(heads) - 1))], *([_text(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _text(value: str) -> str:
    """A value that cannot be taken for Markdown: a label or file name may hold any sign."""
    for sign in "\\|`*_<>[]":
        value = value.replace(sign, f"\\{sign}")
    return value.replace("\n", " ")
