"""report.md: the comparison as a comment under a pull request."""

from collections.abc import Sequence

from elman.reporting.facts import SPLITS, data_facts, split_table
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import DRAWN, SHOWN, TASK_TITLES, number, plus_minus, title
from elman.reporting.verdict import verdict


def report_markdown(inputs: ReportInputs) -> str:
    """Verdict, table, figures by relative path, data and origin as Markdown."""
    comparison = inputs.comparison
    task = comparison["task"]
    lines = [f"## {_text(comparison['dataset'])}: {TASK_TITLES[task]}", "", _text(" ".join(verdict(comparison))), ""]
    lines += [*_results(inputs), "", "Mean ± half the width of the 95 % t interval over seeds, test split.", ""]
    lines += [f"![{measure.title}](figures/{measure.key}.png)" for measure in DRAWN[task]]
    lines += ["", "<details><summary>Data and origin</summary>", ""]
    rows = [[name, *numbers] for name, numbers in split_table(task, inputs.prepared, inputs.encoded)]
    lines += [*_table(["", *SPLITS], rows), ""]
    lines += [f"- {name}: {_text(value)}" for name, value in data_facts(inputs.prepared, inputs.encoded)]
    lines += [f"- {name}: {_text(value)}" for name, value in inputs.origin]
    lines += [f"- again: `{' && '.join(inputs.commands)}`", "", "</details>"]
    return "\n".join(lines) + "\n"


def _results(inputs: ReportInputs) -> list[str]:
    measures = SHOWN[inputs.comparison["task"]]
    rows = []
    for row in inputs.comparison["rows"]:
        values = [plus_minus(row["measures"].get(measure.key, {}), measure.decimals) for measure in measures]
        if row["kind"] == "cell":
            last = [number(row["train_seconds"], 1), number(row["tokens_per_second"], 0)]
            first = [number(row["parameters"], 0), str(len(row["seeds"]))]
        else:
            first, last = ["", ""], ["", ""]
        rows.append([title(row["name"]), *first, *values, *last])
    heads = ["model", "parameters", "seeds", *(measure.title for measure in measures), "training s", "tokens/s"]
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---", *(["---:"] * (len(heads) - 1))], *([_text(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _text(value: str) -> str:
    """A value that cannot be taken for Markdown: a label or file name may hold any sign."""
    for sign in "\\|`*_<>[]":
        value = value.replace(sign, f"\\{sign}")
    return value.replace("\n", " ")
