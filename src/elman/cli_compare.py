"""`elman compare`: which system is better, and what says so."""

import json
from pathlib import Path
from typing import Annotated

import typer


def compare(
    systems: Annotated[
        list[str],
        typer.Argument(help="Cells, baselines, mixtures (lstm+kneser_ney), folders, MLflow run ids, EXPERIMENT:CELL."),
    ],
    task: Annotated[str | None, typer.Option(help="classifier or language_model; by default each with all.")] = None,
    measure: Annotated[str | None, typer.Option(help="By default accuracy, or bits_per_byte.")] = None,
    resamples: Annotated[int, typer.Option(help="Resamples of the bootstrap.", min=100)] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of all draws.", min=0)] = 1,
    reports: Annotated[Path, typer.Option(help="The folder with the reports.")] = Path("reports"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output only.")] = False,
) -> None:
    """Say which of two or more systems is better on the same test documents, and why."""
    from elman.reporting.comparing.locate import read_named
    from elman.reporting.comparing.measuring import MEASURES
    from elman.reporting.comparing.pairs import compare_systems
    from elman.reporting.comparing.words import lines

    groups = read_named(systems, reports=reports, root=reports.resolve().parent, task=task)
    fitting = [group for group in groups if measure in (None, *MEASURES[group[0].task])]
    results = [compare_systems(group, measure=measure, resamples=resamples, seed=seed) for group in fitting or groups]
    if as_json:
        whole = {"version": 1, "tasks": {result["task"]: result for result in results}}
        typer.echo(json.dumps(whole, allow_nan=False))
        return
    typer.echo("\n\n".join("\n".join(lines(result)) for result in results))
