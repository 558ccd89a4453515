"""`elman study ...`: each command computes a study, records it, and writes its figure, table and numbers.

TensorFlow and MLflow are loaded by the commands, not by this module.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from elman.errors import DataError
from elman.stages import load_tensorflow

study_app = typer.Typer(
    help="Look into recurrent cells: what they keep, how far gradients reach, what gates do.", no_args_is_help=True
)

OutOption = Annotated[Path, typer.Option("--out", help="Folder for <study>.json and <study>.png.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
SeedsOption = Annotated[int, typer.Option(help="How many seeds: 1 to this number.", min=1)]
CellsOption = Annotated[str | None, typer.Option(help="Cells, with commas between them; all of the study by default.")]
StepsOption = Annotated[int | None, typer.Option(help="Training steps of each cell and seed.", min=1)]
TrackOption = Annotated[bool, typer.Option("--track/--no-track", help="Record the runs in MLflow.")]
TokenizerOption = Annotated[
    Path | None, typer.Option(help="The model's tokenizer; by default the one three folders above it.")
]

_OUT = Path("reports/studies")


@study_app.command("gradient-flow")
def gradient_flow(
    seeds: SeedsOption = 5,
    cells: CellsOption = None,
    model: Annotated[Path | None, typer.Option(help="Folder of a trained model, measured too; needs --text.")] = None,
    text: Annotated[str | None, typer.Option(help="A file, or the text itself, for the trained model to read.")] = None,
    tokenizer: TokenizerOption = None,
    longest: Annotated[int, typer.Option(help="Leave out lengths and distances above this.", min=10)] = 100,
    out: OutOption = _OUT,
    as_json: JsonOption = False,
) -> None:
    """How much of a gradient arrives some steps earlier, in new layers and in a trained model."""
    if (model is None) != (text is None):
        raise DataError("a trained model is measured while it reads a text: give --model and --text, or neither")
    load_tensorflow()
    from elman.diagnostics.layer_inputs import encode_text, layer_inputs
    from elman.diagnostics.studies import gradient_flow as study

    distances = [distance for distance in study.DISTANCES if distance <= longest]
    result = study.study_gradient_flow(
        cells=_listed(cells, study.CELLS),
        seeds=_seeds(seeds),
        lengths=[length for length in study.LENGTHS if length <= longest],
        distances=distances,
        report=_report,
    )
    if model is None or text is None:
        _report("no trained model: add --model models/language_model/lstm/seed-1 --text FILE to measure one as well")
    else:
        trained, pieces = _load(model, tokenizer)
        ids = encode_text(pieces, _text(text), model=trained)
        name = f"{trained.spec.task.replace('_', ' ')}, {model.parent.name} {model.name}"
        layers = layer_inputs(trained, ids)
        result["trained"] = study.trained_jacobians(layers, title=name, cell=trained.spec.cell, distances=distances)
    _finish(result, out, as_json)


def _add_regression(task: str, words: str) -> None:
    """Add a command for a study of `study_regression`."""

    @study_app.command(task, help=words)
    def command(
        seeds: SeedsOption = 5,
        cells: CellsOption = None,
        steps: StepsOption = None,
        length: Annotated[int, typer.Option(help="Length of a training sequence.", min=2)] = 100,
        track: TrackOption = True,
        out: OutOption = _OUT,
        as_json: JsonOption = False,
    ) -> None:
        load_tensorflow()
        from elman.diagnostics.studies.regression import CELLS, RegressionSettings, study_regression

        chosen = {} if steps is None else {"steps": steps, "checks": min(steps, 20)}
        settings = RegressionSettings(length=length, **chosen)
        with _recorder(task, track=track) as recorder:
            result = study_regression(
                task, settings, cells=_listed(cells, CELLS), seeds=_seeds(seeds), recorder=recorder, report=_report
            )
        _finish(result, out, as_json)


_add_regression("adding", "The adding problem: which cells learn to keep two numbers over many steps.")
_add_regression("reset", "A running sum with resets: which cells learn to keep a number and to let go of it.")


@study_app.command()
def gates(
    model: Annotated[Path, typer.Argument(help="Folder of a model, such as models/language_model/lstm/seed-1.")],
    text: Annotated[str, typer.Argument(help="A file, or the text itself.")],
    tokenizer: TokenizerOption = None,
    tokens: Annotated[int, typer.Option(help="How many tokens the picture shows.", min=1)] = 40,
    out: OutOption = _OUT,
    as_json: JsonOption = False,
) -> None:
    """What the gates of a trained model do over a text: picture, half-lives, and what is wrong."""
    load_tensorflow()
    from elman.diagnostics.studies.gates import study_gates

    trained, pieces = _load(model, tokenizer)
    name = f"{trained.spec.task.replace('_', ' ')} {model.parent.name} {model.name}"
    _finish(study_gates(trained, pieces, _text(text), title=name, pictured=tokens), out, as_json)


@study_app.command()
def agreement(
    seeds: SeedsOption = 5,
    cells: CellsOption = None,
    steps: StepsOption = None,
    trained: Annotated[int, typer.Option(help="Most attractors of a training sentence.", min=0)] = 5,
    tested: Annotated[int, typer.Option(help="Most attractors of a test sentence.", min=0)] = 20,
    track: TrackOption = True,
    out: OutOption = _OUT,
    as_json: JsonOption = False,
) -> None:
    """Number agreement of verb and subject over other nouns, in generated sentences."""
    load_tensorflow()
    from elman.diagnostics.studies.agreement import CELLS, AgreementSettings, study_agreement

    chosen = {} if steps is None else {"steps": steps, "checks": min(steps, 10)}
    settings = AgreementSettings(trained_attractors=trained, tested_attractors=tested, **chosen)
    with _recorder("agreement", track=track) as recorder:
        result = study_agreement(
            settings, cells=_listed(cells, CELLS), seeds=_seeds(seeds), recorder=recorder, report=_report
        )
    _finish(result, out, as_json)


@contextmanager
def _recorder(study: str, *, track: bool) -> Iterator[Any]:
    """The tracking store of the current folder, or a recorder that keeps nothing."""
    if not track:
        from elman.diagnostics.studies.recorder import Unrecorded

        yield Unrecorded()
        return
    from elman.tracking.tracker import Tracker

    with Tracker.open(root=Path(), experiment=f"study {study}") as tracker:
        yield tracker


def _load(model: Path, tokenizer: Path | None) -> tuple[Any, Any]:
    from elman.data.tokenizer import Tokenizer
    from elman.models.store import load_model

    return load_model(model), Tokenizer.load(tokenizer or (model / "../../../tokenizer").resolve())


def _finish(result: dict[str, Any], out: Path, as_json: bool) -> None:
    from elman.reporting.studies.tables import study_tables
    from elman.reporting.studies.write import write_study

    write_study(result, out)
    typer.echo(json.dumps(result) if as_json else study_tables(result))
    _report(f"written: {out / result['study']}.json and .png")


def _text(given: str) -> str:
    """The text of a file, or the argument itself where it is no name of a file."""
    try:
        path = Path(given)
        if path.is_file():
            return path.read_text(encoding="utf-8")
    except OSError:  # a text that is too long for the name of a file
        return given
    except UnicodeDecodeError as error:
        raise DataError(f"{given}: not UTF-8 ({error.reason} at byte {error.start}); convert it first") from None
    if len(given.split()) == 1 and ("/" in given or path.suffix):
        raise DataError(f"{given}: no such file. A text of one word may hold neither a slash nor a dot inside")
    return given


def _listed(given: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    return default if given is None else tuple(name.strip() for name in given.split(",") if name.strip())


def _seeds(count: int) -> list[int]:
    return list(range(1, count + 1))


def _report(line: str) -> None:
    typer.echo(line, err=True)
