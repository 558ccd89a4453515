"""The `elman` command. What computes loads TensorFlow when it runs, so that all else answers at once."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from elman import __version__
from elman.cli_compare import compare
from elman.cli_doctor import doctor
from elman.cli_export import export, import_torch
from elman.cli_generate import generate
from elman.cli_relocate import relocate
from elman.cli_retrain import retrain, rollback, status
from elman.cli_search import search
from elman.cli_serve import serve
from elman.cli_study import study_app
from elman.cli_use import classify, embed, score
from elman.errors import ElmanError
from elman.storage import storage_error

app = typer.Typer(
    name="elman",
    help="Small recurrent text models, trained reproducibly and compared honestly.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(study_app, name="study")
app.command()(doctor)
app.command()(relocate)
app.command()(compare)
app.command()(search)
app.command()(classify)
app.command()(score)
app.command()(export)
app.command()(import_torch)
app.command()(generate)
app.command()(embed)
app.command()(serve)
app.command()(retrain)
app.command()(status)
app.command()(rollback)

ParamsOption = Annotated[Path, typer.Option("--params", help="The configuration to read.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def check(params: ParamsOption = Path("params.yaml"), as_json: JsonOption = False) -> None:
    """Check params.yaml and the data in seconds, and print what is in force."""
    from elman.config import load_params
    from elman.data.inspection import inspect

    config = load_params(params)
    found = inspect(dataset=config.dataset)
    if as_json:
        typer.echo(json.dumps({"params": config.model_dump(mode="json"), "data": dataclasses.asdict(found)}))
        return
    for section, values in config.model_dump(mode="json").items():
        typer.echo(f"{section}:")
        for key, value in values.items():
            typer.echo(f"  {key}: {json.dumps(value, ensure_ascii=False)}")
    for source in found.sources:
        rows = f"{source.rows_seen:,} rows" if source.complete else f"first {source.rows_seen:,} rows"
        rejected = f", rejected: {source.rejected}" if source.rejected else ""
        split = source.split or "split by column or hash"
        typer.echo(f"{source.name}: {source.format}, {source.encoding}, {split}, {rows}{rejected}; {source.first_text}")
    if found.labels:
        typer.echo(f"labels: {', '.join(f'{label} {count}' for label, count in found.labels.items())}")
    typer.echo("params and data are fine: `dvc repro` runs the pipeline")


@app.command()
def table(
    params: ParamsOption = Path("params.yaml"),
    as_json: JsonOption = False,
    hints: Annotated[bool, typer.Option("--hints", help="Say where the reports are and how to open the UI.")] = False,
) -> None:
    """Print the comparison of each task from the reports."""
    from elman.artifacts import read_json
    from elman.config import load_params
    from elman.reporting.table import print_tables

    config = load_params(params)
    reports = params.resolve().parent / "reports"
    if as_json:
        tasks = config.dataset.tasks
        typer.echo(json.dumps({task: read_json(reports / task / "comparison.json") for task in tasks}))
        return
    print_tables(reports, config.dataset.tasks)
    if hints:
        _print_hints(reports.parent, config.dataset.tasks)


def _print_hints(root: Path, tasks: tuple[str, ...]) -> None:
    from elman.artifacts import read_json
    from elman.tracking.views import CELLS, view_address

    for task in tasks:
        typer.echo(f"report of the {task.replace('_', ' ')}: {root / 'reports' / task / 'report.html'}")
    typer.echo("the runs in MLflow: run `make ui`, then open")
    for task in tasks:
        runs = sorted((root / "models" / task).glob("*/run.json"))
        if runs:
            typer.echo(f"  {view_address(read_json(runs[0])['experiment_id'], CELLS)}")


@app.command()
def store() -> None:
    """Print the address of the tracking store."""
    from elman.tracking.store import store_uri

    typer.echo(store_uri(Path()))


def main() -> None:
    """Runs the command; an error raised on purpose is one message and its exit code, without a traceback."""
    try:
        app()
    except ElmanError as error:
        _fail(error)
    except OSError as error:
        if (known := storage_error(error)) is None:
            raise
        _fail(known)


def _fail(error: ElmanError) -> NoReturn:
    typer.echo(f"error: {error}", err=True)
    sys.exit(error.exit_code)
