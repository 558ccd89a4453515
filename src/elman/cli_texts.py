"""What the commands that use a model on text share: their arguments, rows in, answers out.

TensorFlow is loaded by the commands, not by this module.
"""

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elman.errors import DataError
from elman.stages import load_tensorflow

if TYPE_CHECKING:
    from elman.data.reading.rows import RawRow
    from elman.packages.package import Package
    from elman.using.locate import Located

REFUSED = 3  # exit code where some rows could not be used, and all others were

ModelArgument = Annotated[
    str,
    typer.Argument(
        help="A cell (its best seed on validation), a folder such as models/classifier/lstm/seed-2 or a package's, or "
        "a registered model such as models:/NAME@champion."
    ),
]
TextsArgument = Annotated[list[str] | None, typer.Argument(help="Texts; without any, lines of standard input.")]
FileOption = Annotated[
    Path | None, typer.Option("--file", help="A document a line; or .csv, .tsv, .jsonl, .parquet, each also .gz.")
]
ColumnOption = Annotated[str, typer.Option(help="Where the text is in a .csv, .tsv, .jsonl or .parquet file.")]
EncodingOption = Annotated[str, typer.Option(help="A Python codec; for a file also auto.")]
ModelsOption = Annotated[Path, typer.Option(help="The folder with the models of each task.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print a JSON object a row on standard output only.")]


def text_rows(
    texts: list[str] | None, file: Path | None, *, column: str, encoding: str
) -> tuple[Iterator["RawRow"], int | None]:
    """The rows and, where it is known, their number."""
    from elman.using.rows import count_rows, rows_of_file, rows_of_stream, rows_of_texts

    if texts and file is not None:
        raise DataError("texts come as arguments or with --file, not both")
    if texts:
        return rows_of_texts(texts), len(texts)
    if file is not None:
        rows = rows_of_file(file, column=column, encoding=encoding)
        first = list(itertools.islice(rows, 1))  # a file that cannot be read is said before TensorFlow is loaded
        return itertools.chain(first, rows), count_rows(file) if sys.stderr.isatty() else None
    stream = typer.get_binary_stream("stdin")
    if stream.isatty():
        typer.echo("reading standard input, a text a line; Ctrl-D ends it", err=True)
    return rows_of_stream(stream, encoding=encoding), None


def load_named(model: str, models: Path, *, task: str | None) -> Any:
    """The model that a command names, loaded with TensorFlow; which one it is goes to standard error."""
    with found_named(model, models, task=task) as found:
        return load_all([found])[0]


@contextmanager
def found_named(model: str, models: Path, *, task: str | None) -> Iterator["Package | Located"]:
    """What a name means, before TensorFlow is loaded: a wrong name is said at once, a right one too."""
    from elman.packages.finding import find

    with _registered(model) if model.startswith("models:/") else nullcontext(model) as name:
        found = find(name, models=models, task=task)
        typer.echo(f"model: {_described(model, found)}", err=True)
        yield found


def load_all(found: "Sequence[Package | Located]") -> list[Any]:
    """The models, on this machine's device, which is chosen once."""
    load_tensorflow()
    from elman.models.device import configure_device
    from elman.packages.loading import load_found

    configure_device(device="auto", threads=None, mixed_precision=False, deterministic=False)
    return [load_found(one) for one in found]


def _registered(address: str) -> AbstractContextManager[Path]:
    from elman.tracking.named import fetched

    return fetched(address, root=Path())


def _described(model: str, found: "Package | Located") -> str:
    from elman.packages.package import Package

    if isinstance(found, Package):
        return f"{model}, a package of {found.cell} with the seed {found.seed}"
    return f"{found.folder}{f', the best of {found.best_of} seeds on validation' if (found.best_of or 1) > 1 else ''}"


@contextmanager
def answers_of(
    rows: Iterator["RawRow"],
    each: Callable[[Iterable[object]], Iterator[Any]],
    *,
    total: int | None,
    as_json: bool,
) -> Iterator[Iterator[tuple[int, str, Any]]]:
    """Number, text and answer of the rows that have one; the others are named, and the exit code tells in the end."""
    from elman.using.rows import PAUSE_ROW, text_of
    from elman.using.texts import Refused

    counts = {"rows": 0, "refused": 0}

    def answered(advance: Callable[[], None]) -> Iterator[tuple[int, str, Any]]:
        shown, given = itertools.tee(rows)
        shown = (row for row in shown if row is not PAUSE_ROW)
        for row, answer in zip(shown, each(text_of(row) for row in given), strict=True):
            counts["rows"] += 1
            advance()
            if not isinstance(answer, Refused):
                yield row.number, row.text or "", answer
                continue
            counts["refused"] += 1
            typer.echo(f"{row.source}, row {row.number}: {answer.reason}", err=True)
            if as_json:
                print_json({"row": row.number, "error": answer.reason})

    with progress(total) as advance:
        yield answered(advance)
    if counts["refused"]:
        typer.echo(f"{counts['refused']:,} of {counts['rows']:,} rows could not be used", err=True)
        raise typer.Exit(REFUSED)


@contextmanager
def progress(total: int | None) -> Iterator[Callable[[], None]]:
    """A bar on standard error, where that is a terminal and the answers go elsewhere."""
    if not sys.stderr.isatty() or sys.stdout.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("texts"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("texts", total=total)
        yield lambda: bar.advance(task)


def print_json(value: dict[str, Any]) -> None:
    """One object on one line of standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, allow_nan=False))
