"""The page of the commands, made from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer


def commands_page() -> str:
    """Every command of `elman` with its arguments and options, as Markdown."""
    from elman.cli import app

    head = ["# Commands", "Made from the code: what `elman COMMAND --help` prints."]
    return "\n\n".join([*head, *_parts(app_command(app), "elman")]) + "\n"


def app_command(app: typer.Typer) -> Any:
    """The command of a typer application, with its subcommands in `commands`."""
    return typer.main.get_command(app)


def _parts(command: Any, name: str) -> Iterator[str]:
    if (below := getattr(command, "commands", None)) is not None:
        if name != "elman":
            yield f"## {name}"
            yield str(command.help or "")
        for word in sorted(below):
            yield from _parts(below[word], f"{name} {word}")
        return
    yield f"{'##' if name.count(' ') == 1 else '###'} {name}"
    yield str(command.help or "").replace("\n    ", "\n")
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    usage = [_shown_argument(argument) for argument in arguments]
    yield "    " + " ".join([name, *usage, "[OPTIONS]"])
    if items := [_item(param) for param in command.params if param.name != "help"]:
        yield "\n".join(items)


def _shown_argument(argument: Any) -> str:
    word = argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return word if argument.required else f"[{word}]"


def _item(param: Any) -> str:
    """An argument or option with its words and its default, as an item of a list."""
    argument = param.param_type_name == "argument"
    name = param.name.upper() if argument else ", ".join([*param.opts, *param.secondary_opts])
    shown = not argument and param.default is not None and param.default is not False
    default = f" By default `{_plain(param.default)}`." if shown else " Needed." if param.required else ""
    return f"- `{name}`<br>{(param.help or '').replace('<', '&lt;')}{default}"


def _plain(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
