"""`elman classify`, `elman score` and `elman embed`: what was trained, used on text.

TensorFlow is loaded by the commands, not by this module.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from elman.cli_texts import (
    ColumnOption,
    EncodingOption,
    FileOption,
    JsonOption,
    ModelArgument,
    ModelsOption,
    TextsArgument,
    answers_of,
    load_named,
    print_json,
    text_rows,
)
from elman.errors import DataError


def classify(
    model: ModelArgument,
    texts: TextsArgument = None,
    file: FileOption = None,
    column: ColumnOption = "text",
    encoding: EncodingOption = "utf-8",
    models: ModelsOption = Path("models"),
    as_json: JsonOption = False,
) -> None:
    """Say which class each text belongs to, and how sure the model is."""
    rows, total = text_rows(texts, file, column=column, encoding=encoding)
    loaded = load_named(model, models, task="classifier")
    from elman.using.display import classification_header, classification_line

    if not as_json:
        typer.echo(classification_header(loaded.labels))
    with answers_of(rows, loaded.classify_each, total=total, as_json=as_json) as answers:
        for number, text, answer in answers:
            if as_json:
                print_json({"row": number, **answer.to_json()})
            else:
                typer.echo(classification_line(number, text, answer, labels=loaded.labels))


def score(
    model: ModelArgument,
    texts: TextsArgument = None,
    file: FileOption = None,
    column: ColumnOption = "text",
    encoding: EncodingOption = "utf-8",
    tokens: Annotated[bool, typer.Option("--tokens", help="Show the nats of each token too.")] = False,
    total: Annotated[bool, typer.Option("--total", help="Show the figures of all texts together only.")] = False,
    state: Annotated[
        str | None,
        typer.Option(help="document: each text by itself; stream: one text in parts. By default as trained."),
    ] = None,
    models: ModelsOption = Path("models"),
    as_json: JsonOption = False,
) -> None:
    """Say how well a language model predicts each text: nats, perplexity, bits a byte."""
    if state not in (None, "document", "stream"):
        raise DataError(f"--state: document or stream, but came {state!r}")
    rows, count = text_rows(texts, file, column=column, encoding=encoding)
    loaded = load_named(model, models, task="language_model")
    from elman.using.answers import ScoreSum
    from elman.using.display import score_header, score_line, token_lines, total_line

    added = ScoreSum()
    if not (as_json or total):
        typer.echo(score_header())

    def score_each(given: Iterable[object]) -> Iterator[Any]:
        return loaded.score_each(given, state=state)  # type: ignore[no-any-return]

    with answers_of(rows, score_each, total=count, as_json=as_json and not total) as answers:
        for number, text, answer in answers:
            added.add(answer)
            if as_json and not total:
                print_json({"row": number, **answer.to_json(tokens=tokens)})
            elif not total:
                lines = token_lines(answer) if tokens else ()
                typer.echo("\n".join([score_line(number, text, answer), *lines]))
        if total and added.num_documents and as_json:
            print_json({"version": 1, **added.measures()})
        elif (total and added.num_documents) or (added.num_documents > 1 and not as_json):
            typer.echo(total_line(added.measures()))
    if total and not added.num_documents:
        raise DataError("--total: no text came, so that there are no figures of all together")


def embed(
    model: ModelArgument,
    texts: TextsArgument = None,
    file: FileOption = None,
    column: ColumnOption = "text",
    encoding: EncodingOption = "utf-8",
    out: Annotated[
        Path | None, typer.Option(help="A .npy file for all vectors, float32 (rows, numbers), instead of JSON lines.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="classifier or language_model, where the name stands for both.")
    ] = None,
    models: ModelsOption = Path("models"),
    as_json: JsonOption = False,
) -> None:
    """Give each text as a vector: a classifier's pooled outputs, or a language model's last state.

    Prints a JSON object a row. In a .npy file a row that could not be used is NaN.
    """
    if out is not None and out.suffix != ".npy":
        raise DataError(f"--out: a name that ends in .npy is needed, but came {out}")
    if task not in (None, "classifier", "language_model"):
        raise DataError(f"--task: classifier or language_model, but came {task!r}")
    rows, count = text_rows(texts, file, column=column, encoding=encoding)
    loaded = load_named(model, models, task=task)
    if out is None:
        with answers_of(rows, loaded.embed_each, total=count, as_json=True) as answers:
            for number, _, vector in answers:
                print_json({"row": number, "embedding": vector.tolist()})
        return
    vectors: list[Any] = []
    with answers_of(rows, _keeping(loaded, vectors), total=count, as_json=False) as answers:
        used = sum(1 for _ in answers)
        _write_vectors(out, vectors, loaded.embedding_dim)
        facts = {"version": 1, "file": str(out), "rows": len(vectors), "numbers": loaded.embedding_dim}
        if as_json:
            print_json({**facts, "refused": len(vectors) - used})
        else:
            typer.echo(f"{out}: float32 ({len(vectors):,}, {loaded.embedding_dim:,})", err=True)


def _keeping(loaded: Any, vectors: list[Any]) -> Callable[[Iterable[object]], Iterator[Any]]:
    """`embed_each` that keeps each vector, NaN for a row that was refused."""
    import numpy as np

    from elman.using.texts import Refused

    def each(given: Iterable[object]) -> Iterator[Any]:
        for answer in loaded.embed_each(given):
            unused = isinstance(answer, Refused)
            vectors.append(np.full(loaded.embedding_dim, np.nan, np.float32) if unused else answer)
            yield answer

    return each


def _write_vectors(out: Path, vectors: list[Any], width: int) -> None:
    import numpy as np

    from elman.artifacts import replacing

    with replacing(out) as temporary:
        np.save(temporary, np.stack(vectors) if vectors else np.zeros((0, width), np.float32), allow_pickle=False)
