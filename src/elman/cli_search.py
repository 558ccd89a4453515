"""`elman search`: better settings for one cell, found on validation.

TensorFlow, Optuna and MLflow are loaded by the command, not by this module.
"""

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from elman.errors import ConfigError
from elman.stages import load_tensorflow

if TYPE_CHECKING:
    from elman.config import Params


def search(
    task: Annotated[str, typer.Argument(help="classifier or language_model.")],
    cell: Annotated[str, typer.Argument(help="simple_rnn, lstm or gru.")],
    trials: Annotated[int, typer.Option(help="How many trainings, those of earlier calls included.", min=1)] = 20,
    timeout: Annotated[float | None, typer.Option(help="Minutes; no trial starts later.", min=0.01)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the choice of settings.", min=0)] = 1,
    out: Annotated[Path | None, typer.Option(help="The params file to write; by default in presets/.")] = None,
    params: Annotated[Path, typer.Option("--params", help="The configuration to start from.")] = Path("params.yaml"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output only.")] = False,
) -> None:
    """Tune one cell's learning rate, dropouts, units and layers on validation, and write what was found as a preset."""
    from elman.config import load_params

    config = load_params(params)
    _check_names(config, task, cell)
    load_tensorflow()
    from elman.searching.preset import write_preset
    from elman.searching.search import best_trials, cost

    name = f"{config.dataset.name}-{task}-{cell}"
    study = _search(config, task, cell, Path("search") / f"{name}.db", (trials, timeout, seed), as_json=as_json)
    rows, spent = best_trials(study), cost(study)
    best = rows[0]["valid_loss"]
    written = out or Path("presets") / f"{name}-search.yaml"
    note = f"Found by `elman search {task} {cell}` in {spent['trials']} trials, best validation loss {best:.4f}"
    write_preset(
        params, written, params=config, task=task, cell=cell, settings=rows[0]["settings"], cost=spent, note=note
    )
    result = {"version": 1, "dataset": config.dataset.name, "task": task, "cell": cell, **spent, "best": rows}
    _show({**result, "preset": str(written)}, as_json=as_json)


def _search(
    config: "Params", task: str, cell: str, storage: Path, budget: tuple[int, float | None, int], *, as_json: bool
) -> Any:
    from elman.searching.search import Budget, search_cell
    from elman.searching.trial import Inputs
    from elman.tracking.git import git_state
    from elman.tracking.searches import SearchTracker
    from elman.tracking.tracker import Tracker, experiment_name

    inputs = Inputs(Path("data/encoded"), Path("models/tokenizer"), Path("data/prepared/labels.json"))
    trials, minutes, seed = budget
    with Tracker.open(root=Path(), experiment=experiment_name(config.dataset.name, task)) as tracker:
        return search_cell(
            params=config,
            task=task,
            cell=cell,
            inputs=inputs,
            storage=storage,
            budget=Budget(trials, None if minutes is None else 60.0 * minutes, seed),
            recorder=SearchTracker(tracker),
            tags=git_state(Path()).as_tags(),
            report=lambda line: typer.echo(line, err=as_json),
        )


def _show(result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(result, allow_nan=False))
        return
    from rich.console import Console

    from elman.searching.words import duration, trials_table

    words = f"{result['dataset']}, {result['task'].replace('_', ' ')} {result['cell']}"
    title = f"{words}: the best of {result['trials']} trials ({duration(result['seconds'])}), validation split"
    Console(width=160, highlight=False).print(trials_table(result["best"], title=title))
    if result["best"][0]["in_force"]:
        typer.echo("no trial was better than the settings in force")
    typer.echo(f"written: {result['preset']}; to use it: cp {result['preset']} params.yaml && dvc repro")


def _check_names(config: "Params", task: str, cell: str) -> None:
    from elman.config import Cell

    for name, value, allowed in (("task", task, config.dataset.tasks), ("cell", cell, get_args(Cell))):
        if value not in allowed:
            near = difflib.get_close_matches(value, allowed, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            where = " (dataset.tasks)" if name == "task" else ""
            raise ConfigError(f"{value!r}: no such {name}; {hint}It can be: {', '.join(allowed)}{where}")
