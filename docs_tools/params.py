"""The page of params.yaml: keys and what is allowed from the code, values and their words from the file itself."""

import re
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from elman.config import Params, TrainingConfig

_LINE = re.compile(r"^  (?P<key>\w+): *(?P<value>.*?)(?: +# *(?P<words>.*))?$")
_BOUNDS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def params_page(path: Path) -> str:
    """Every key of params.yaml with what is allowed, its value in the file, and the words beside it, as Markdown."""
    shown = _shown(path.read_text(encoding="utf-8"))
    parts = [
        "# params.yaml",
        "Made from the code and from the file, with its values and comments. `elman check` refuses any other key or "
        "value; a key for which no default is named has to stand in the file.",
    ]
    for section, field in Params.model_fields.items():
        kind = field.annotation
        parts.append(f"## {section}")
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            parts.append((kind.__doc__ or "").split("\n\n")[0])
            parts.append(_keys(section, kind, shown))
        else:
            parts.append(f"{allowed(kind)}. Settings of the task's section that one cell changes.")
    return "\n\n".join(parts) + "\n"


def _keys(section: str, kind: type[BaseModel], shown: dict[str, dict[str, tuple[str, str]]]) -> str:
    items = []
    for key, field in kind.model_fields.items():
        value, words = shown.get(section, {}).get(key, ("", ""))
        if not words and section == "language_model" and key in TrainingConfig.model_fields:
            words = shown["classifier"].get(key, ("", ""))[1]  # said once in the file, for both tasks
        annotation = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        may = allowed(annotation)
        words = words.removeprefix(may.replace(", ", " | ")).lstrip(";:, ")  # said already
        default = "" if field.is_required() else f", by default {_value(field.default)}"
        said = " – ".join(filter(None, (may + default, words)))
        items.append(f"- {f'`{key}: {value}`' if value else f'`{key}`'}<br>{_escaped(said)}")
    return "\n".join(items)


def _escaped(text: str) -> str:
    return re.sub(r"([|*_\[\]])", r"\\\1", text).replace("<", "&lt;")


def allowed(annotation: Any) -> str:
    """What a key may hold, in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _bounded(allowed(arguments[0]), arguments[1:])
    if origin in (Union, UnionType):
        words = [allowed(one) for one in arguments if one is not NoneType]
        return " or ".join([*words, *(["null"] if NoneType in arguments else [])])
    if origin is Literal:
        return ", ".join(map(str, arguments))
    if origin is tuple:
        return f"a list of {allowed(arguments[0])}"
    if origin is dict:
        return f"a mapping from {allowed(arguments[0])} to {allowed(arguments[1])}"
    plain = {str: "text", int: "a whole number", float: "a number", bool: "true, false", Any: "any value"}
    return plain.get(annotation) or f"keys {', '.join(annotation.model_fields)}"


def _bounded(words: str, metadata: tuple[Any, ...]) -> str:
    found = []
    for constraint in metadata:
        for part in getattr(constraint, "metadata", None) or [constraint]:
            found += [f"{sign} {getattr(part, name):,}" for name, sign in _BOUNDS.items() if hasattr(part, name)]
    return f"{words} {', '.join(found)}" if found else words


def _shown(text: str) -> dict[str, dict[str, tuple[str, str]]]:
    """Section -> key -> value and comment, as they stand in the file."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    section = ""
    for line in text.splitlines():
        if head := re.match(r"^(\w+):", line):
            section = head[1]
        elif match := _LINE.match(line):
            found.setdefault(section, {})[match["key"]] = (match["value"], match["words"] or "")
    return found


def _value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value)) if isinstance(value, tuple) else str(value)
