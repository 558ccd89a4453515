"""The comparison as a table in the terminal."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from elman.reporting.comparison import read_comparison
from elman.reporting.measures import SHOWN, TASK_TITLES, number, plus_minus, title
from elman.reporting.mixtures import mixture_note
from elman.reporting.verdict import verdict

PIPE_WIDTH = 160  # columns where the output is no terminal: room for a row on one line, whatever its numbers
TEXT_WIDTH = 112  # columns of running text

LEGEND = "Mean {sign} half the width of the 95 % t interval over seeds. Train s and tokens/s: means over seeds."

_SIGN = {False: "±", True: "+-"}


def print_tables(reports: Path, tasks: Sequence[str], *, console: Console | None = None) -> None:
    """Prints each task's table and verdict from its comparison.json.

    Args:
        reports: The folder `reports`.
        tasks: Tasks in the order wanted.
        console: Where to print; None is standard output, without colours and frames where it is no terminal.

    Raises:
        ArtifactError: A comparison.json is missing or damaged.
    """
    comparisons = [read_comparison(reports, task) for task in tasks]
    output = console or _console()
    for comparison in comparisons:
        plain = not output.is_terminal
        output.print(comparison_table(comparison, plain=plain))
        output.print(LEGEND.format(sign=_SIGN[plain]), style="dim", highlight=False)
        if note := mixture_note(comparison):
            output.print(note, style="dim", highlight=False, width=min(output.width, TEXT_WIDTH))
        output.print(" ".join(verdict(comparison)), highlight=False, markup=False, width=min(output.width, TEXT_WIDTH))
        output.print()


def comparison_table(comparison: Mapping[str, Any], *, plain: bool = False) -> Table:
    """Baselines, cells and their mixtures; `plain` draws with ASCII signs, as Markdown does, for logs and pipes."""
    task = comparison["task"]
    table = Table(
        title=f"{escape(comparison['dataset'])}, {TASK_TITLES[task]}: test split",
        title_justify="left",
        title_style="" if plain else "bold",
        collapse_padding=not plain,
        pad_edge=plain,
        box=box.MARKDOWN if plain else box.SIMPLE_HEAD,
    )
    table.add_column("model", no_wrap=True)
    headings = [measure.title.replace(" per ", "\nper ") for measure in SHOWN[task]]
    for heading in ("parameters", "seeds", *headings, "train s", "tokens/s"):
        table.add_column(heading, justify="right")
    for row in comparison["rows"]:
        measures = [(row["measures"].get(measure.key, {}), measure.decimals) for measure in SHOWN[task]]
        cells = [plus_minus(values, decimals, sign=_SIGN[plain]) for values, decimals in measures]
        if row["kind"] == "baseline":
            table.add_row(title(row["name"]), "", "", *cells, "", "", style="" if plain else "dim")
            continue
        if row["kind"] == "mixture":
            name = (
                title(row["name"]) if plain else title(row["name"]).replace(" +", "\n+")
            )  # on a screen, room is short
            table.add_row(name, "", str(len(row["seeds"])), *cells, "", "")
            continue
        table.add_row(
            title(row["name"]),
            number(row["parameters"], 0),
            str(len(row["seeds"])),
            *cells,
            number(row["train_seconds"], 1),
            number(row["tokens_per_second"], 0),
        )
    return table


def _console() -> Console:
    """Standard output; a pipe or a file gets one width that does not depend on who runs the command."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
