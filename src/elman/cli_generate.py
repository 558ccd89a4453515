"""`elman generate`: a text that a language model goes on with, shown as it comes.

TensorFlow is loaded by the command, not by this module.
"""

import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elman.cli_texts import (
    REFUSED,
    ColumnOption,
    EncodingOption,
    FileOption,
    JsonOption,
    ModelArgument,
    ModelsOption,
    load_named,
    print_json,
    text_rows,
)
from elman.errors import DataError

if TYPE_CHECKING:
    from elman.data.reading.rows import RawRow

PromptArgument = Annotated[
    str | None,
    typer.Argument(help="What the text begins with; without it, lines of standard input, and none in a terminal."),
]


def generate(
    model: ModelArgument,
    prompt: PromptArgument = None,
    file: FileOption = None,
    column: ColumnOption = "text",
    encoding: EncodingOption = "utf-8",
    samples: Annotated[int, typer.Option("--samples", "-n", help="Texts for each prompt, side by side.")] = 1,
    max_tokens: Annotated[int, typer.Option(help="Tokens that follow the prompt, at most.")] = 100,
    sampler: Annotated[str, typer.Option(help="greedy, random, top_k, top_p or beam.")] = "top_p",
    temperature: Annotated[float, typer.Option(help="0.0001 to 10,000; below 1 probable tokens become more so.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="For top_k: how many tokens are left.")] = 40,
    top_p: Annotated[float, typer.Option(help="For top_p: tokens are left until they have more than this.")] = 0.9,
    beams: Annotated[int, typer.Option(help="For beam: how many texts are followed at a time.")] = 5,
    seed: Annotated[int, typer.Option(help="Names the random numbers.")] = 1,
    models: ModelsOption = Path("models"),
    as_json: JsonOption = False,
) -> None:
    """Go on with a text, token by token, until the model ends it or it is long enough."""
    rows = _prompts(prompt, file, column=column, encoding=encoding)
    alone = samples == 1 and isinstance(rows, list)
    loaded = load_named(model, models, task="language_model")
    from elman.using.generating.sampling import make_sampling

    sampling = make_sampling(sampler=sampler, temperature=temperature, top_k=top_k, top_p=top_p, beams=beams)
    options = {"sampling": sampling, "samples": samples, "max_tokens": max_tokens, "seed": seed}
    refused = 0
    for row in rows:
        start = _start(loaded.generator, row)
        if isinstance(start, str):
            refused += 1
            typer.echo(f"{row.source}, row {row.number}: {start}", err=True)
            if as_json:
                print_json({"row": row.number, "error": start})
        elif as_json:
            for number, found in enumerate(loaded.generator.texts(start, **options), start=1):
                print_json({"row": row.number, "sample": number, **found.to_json()})
        else:
            _show(loaded.generator.chunks(start, **options), start.text, row=None if alone else row.number)
    if refused:
        raise typer.Exit(REFUSED)


def _prompts(prompt: str | None, file: Path | None, *, column: str, encoding: str) -> Iterable["RawRow"]:
    """The prompts, each with its row: a list of one that was given as such, or an empty one where there is none."""
    from elman.using.rows import PAUSE_ROW, rows_of_texts

    if file is None and (prompt is not None or sys.stdin.isatty()):
        return list(rows_of_texts([prompt or ""]))
    given, _ = text_rows(None if prompt is None else [prompt], file, column=column, encoding=encoding)
    rows = (row for row in given if row is not PAUSE_ROW)  # each is answered when it comes
    first = next(rows, None)
    return list(rows_of_texts([""])) if first is None else itertools.chain([first], rows)


def _start(generator: Any, row: "RawRow") -> Any:
    """What the text begins with, or why the row cannot be used."""
    from elman.using.rows import text_of
    from elman.using.texts import Refused

    text = text_of(row)
    if isinstance(text, Refused):
        return text.reason
    try:
        return generator.prompt(text)
    except DataError as error:
        return str(error)


def _show(chunks: Iterator[Any], prompt: str, *, row: int | None) -> None:
    """Prints the first text as it comes, and the others, which come at the same time, after it."""
    from elman.using.display import printable

    waiting: dict[int, str] = {}
    shown = False
    for sample, text, _, _ in chunks:
        if sample > 0:
            waiting[sample] = waiting.get(sample, "") + text
            continue
        if not shown:
            _head(row, 1)
            typer.echo(printable(prompt), nl=False)
            shown = True
        typer.echo(printable(text), nl=False)
    typer.echo()
    for sample, text in sorted(waiting.items()):
        _head(row, sample + 1)
        typer.echo(printable(prompt + text))


def _head(row: int | None, sample: int) -> None:
    if row is not None:
        typer.echo(f"== row {row}, sample {sample}")
