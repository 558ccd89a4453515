"""params.yaml as `Params`; the only reader of YAML in the package but for DVC's own files."""

import math
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from elman.config.params import Params
from elman.config.section import unknown_key
from elman.errors import ConfigError


def load_params(path: Path) -> Params:
    """Reads and checks `path`; nothing is read or written besides.

    Raises:
        ConfigError: The file is missing, is not YAML, or holds a wrong, unknown or missing key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; run the command in the folder that holds params.yaml") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    return read_params(text, source=str(path))


def read_params(text: str, *, source: str) -> Params:
    """Checks the text of a params file; `source` is named in errors.

    Raises:
        ConfigError: It is not YAML, or holds a wrong, unknown or missing key.
    """
    try:
        data = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ConfigError(f"{source}: not valid YAML: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{source}: expected sections such as dataset: and tokenizer:, found {type(data).__name__}")
    return parse_params(data, source=source)


def parse_params(data: dict[str, Any], *, source: str = "params") -> Params:
    """Checks a mapping with the sections of params.yaml; `source` is named in errors."""
    try:
        return Params.model_validate(data)
    except ValidationError as error:
        lines = [f"  {_explain(dict(item))}" for item in error.errors(include_url=False)]
        raise ConfigError("\n".join([f"{source}: {len(lines)} value(s) refused", *lines])) from None


def _explain(error: dict[str, Any]) -> str:
    path = [str(part) for part in error["loc"]]
    dotted = ".".join(path)
    if error["type"] == "extra_forbidden":
        return unknown_key(dotted, path[-1], _section_of(path[:-1]))
    if error["type"] == "missing":
        return f"{dotted}: this key is missing"
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "value_error":
        return message if not dotted or message.startswith(dotted) else f"{dotted}: {message}"
    return f"{dotted}: {message}, but came {_shown(error.get('input'))}"


def _shown(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} (not a finite number)"
    return f"{value!r} ({type(value).__name__})"


def _section_of(path: list[str]) -> type[BaseModel]:
    section: Any = Params
    for part in path:
        section = get_args(section)[1] if get_origin(section) is dict else section.model_fields[part].annotation
    return section  # type: ignore[no-any-return]
