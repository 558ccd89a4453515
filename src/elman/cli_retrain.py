"""`elman retrain`, `elman status` and `elman rollback`: models that are trained anew by a schedule.

MLflow and the data's libraries are loaded by the commands, not by this module; TensorFlow by other processes only.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from elman.retraining.outcome import Outcome

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]


def retrain(
    force: Annotated[bool, typer.Option("--force", help="Train though there is no reason to.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what a run would do; change nothing.")] = False,
    accept_data: Annotated[
        bool, typer.Option("--accept-data", help="Take the input though validation has something against it.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Train anew where there is reason to, and promote the new model where it holds its own against the champion.

    The last line on standard output is one JSON object. Exit codes: 0 promoted, 10 trained and not promoted, 11 nothing
    to do, 20 busy, 30 bad data, 40 a stage failed, 50 tracking or registry unreachable.
    """
    from elman.retraining.job import retrain as run
    from elman.retraining.night import Options

    options = Options(force=force, dry_run=dry_run, accept_data=accept_data)
    _end(run(Path(), options, say=_quiet if as_json else _say), as_json=as_json)


def rollback(as_json: JsonOption = False) -> None:
    """Make the champion of before the champion again; the last line on standard output is one JSON object."""
    from elman.retraining.rollback import rollback as run

    _end(run(Path(), say=_quiet if as_json else _say), as_json=as_json)


def status(as_json: JsonOption = False) -> None:
    """Show champion, last runs and the next reason to retrain; exit code 1 where the last success is too long ago."""
    from elman.retraining.status import lines
    from elman.retraining.status import status as look

    found = look(Path())
    typer.echo(json.dumps(found, default=str) if as_json else "\n".join(lines(found)))
    if found["alarm"]:
        raise typer.Exit(1)


def _end(outcome: "Outcome", *, as_json: bool) -> None:
    if not as_json:
        typer.echo(f"{outcome.result.replace('_', ' ')}: {outcome.message}")
    typer.echo(outcome.line())
    sys.stdout.flush()
    raise typer.Exit(outcome.exit_code)


def _say(line: str) -> None:
    with suppress(OSError):  # nobody listens: no reason to stop
        typer.echo(line, err=True)


def _quiet(line: str) -> None:
    """Says nothing."""
