"""`elman serve`: trained models over HTTP. TensorFlow and FastAPI are loaded by the command, not by this module."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elman.cli_texts import ModelsOption, found_named, load_all
from elman.errors import ConfigError, ElmanError

if TYPE_CHECKING:
    from socket import socket

    from elman.serving.limits import Limits

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MODEL]...",
        help="A classifier, a language model or one of each: cells, folders, packages or models:/NAME@champion. "
        "Without any, of each task the cell that is best on validation.",
    ),
]


def serve(
    names: NamesArgument = None,
    models: ModelsOption = Path("models"),
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 8000,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Let --host be one that other machines reach; nobody is asked who.")
    ] = False,
    max_batch: Annotated[int, typer.Option(help="Texts that are answered together; 1: each by itself.")] = 64,
    batch_milliseconds: Annotated[float, typer.Option(help="How long a text waits for others.")] = 2.0,
    max_body_bytes: Annotated[int, typer.Option(help="Of a request.")] = 1 << 20,
    max_texts: Annotated[int, typer.Option(help="In a request.")] = 256,
    max_characters: Annotated[int, typer.Option(help="Of a text, a prompt or a piece.")] = 50_000,
    max_new_tokens: Annotated[int, typer.Option(help="That a prompt is gone on with.")] = 1000,
    max_generations: Annotated[int, typer.Option(help="Requests that generate at a time.")] = 8,
    max_requests: Annotated[int, typer.Option(help="Requests in work at a time.")] = 512,
    max_waiting: Annotated[int, typer.Option(help="Texts that wait at a time.")] = 1024,
    max_streams: Annotated[int, typer.Option(help="Stream sessions at a time.")] = 1000,
    stream_idle_seconds: Annotated[float, typer.Option(help="Until an unused stream ends.")] = 600.0,
    request_seconds: Annotated[float, typer.Option(help="That a request may take.")] = 30.0,
    stop_seconds: Annotated[float, typer.Option(help="For what was taken before SIGTERM or Ctrl-C.")] = 30.0,
) -> None:
    """Answer over HTTP: classify, score, generate, streams; with a page to try them, /docs and /metrics."""
    from elman.serving.choosing import names_of
    from elman.serving.limits import make_limits
    from elman.serving.listening import bind

    limits = make_limits(
        max_batch=max_batch, batch_milliseconds=batch_milliseconds, max_body_bytes=max_body_bytes, max_texts=max_texts,
        max_characters=max_characters, max_new_tokens=max_new_tokens, max_generations=max_generations,
        max_requests=max_requests, max_waiting=max_waiting, max_streams=max_streams,
        stream_idle_seconds=stream_idle_seconds, request_seconds=request_seconds, stop_seconds=stop_seconds,
    )  # fmt: skip
    bound = bind(host, port, allow_outside=allow_outside)
    loaded = _loaded(names_of(names or [], models=models), models)
    _serve(loaded, limits, bound, hosts=None if allow_outside else {"127.0.0.1", "localhost", "::1", host})


def _serve(loaded: dict[str, Any], limits: "Limits", bound: "socket", *, hosts: set[str] | None) -> None:
    from elman.serving.app import make_app
    from elman.serving.listening import address_of
    from elman.serving.server import run
    from elman.serving.service import Service

    service = Service(loaded.get("classifier"), loaded.get("language_model"), limits)
    said = f"listening on {address_of(bound)}"
    cut = run(
        make_app(service, hosts=hosts),
        bound,
        stop_seconds=limits.stop_seconds,
        listening=lambda: typer.echo(said, err=True),
    )
    if cut:
        raise ElmanError(f"{cut} requests were not answered within {limits.stop_seconds:g} seconds of being stopped")
    typer.echo("stopped; all that was taken is answered", err=True)


def _loaded(names: list[str], models: Path) -> dict[str, Any]:
    """The models by task, compiled."""
    with ExitStack() as stack:
        found = [stack.enter_context(found_named(name, models, task=None)) for name in names]
        tasks = [one.serving.task for one in found]
        if len(set(tasks)) < len(tasks):
            raise ConfigError(f"a classifier and a language model can be served, one of each; came {', '.join(names)}")
        loaded = load_all(found)
    from elman.serving.text_models import ServedTextClassifier, ServedTextLanguageModel

    kinds: dict[str, Any] = {"classifier": ServedTextClassifier, "language_model": ServedTextLanguageModel}
    served: dict[str, Any] = {
        task: kinds[task](name, model) for task, name, model in zip(tasks, names, loaded, strict=True)
    }
    for one in served.values():
        one.warm_up()
    return served
