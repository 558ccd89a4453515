"""params.yaml with some values changed, as text: comments, order and spelling of all else stay."""

import io
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.representer import RoundTripRepresenter


def changed_params(text: str, changes: Mapping[str, Mapping[str, Any]]) -> str:
    r"""Replaces entries of sections.

    Args:
        text: A params file.
        changes: For each section the new value of some of its keys, such as
            `{"classifier_cells": {"gru": {"units": 96}}}`. A value may be a mapping, a list or a single value. A
            section that is not there is added at the end; keys that are not named stay.

    Example:
        >>> print(changed_params("# ours\ncells: {}  # none\n", {"cells": {"gru": {"units": 96}}}), end="")
        # ours
        cells:     # none
          gru: {units: 96}
    """
    yaml = _round_trip()
    document = yaml.load(text)
    for section, entries in changes.items():
        block = CommentedMap(document.get(section) or {})
        for key, value in entries.items():
            block[key] = _in_one_line(value)
        document[section] = block
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def _in_one_line(value: Any) -> Any:
    if not isinstance(value, Mapping | list | tuple):
        return value
    line = CommentedMap(value) if isinstance(value, Mapping) else CommentedSeq(value)
    line.fa.set_flow_style()
    return line


def _round_trip() -> YAML:
    class Representer(RoundTripRepresenter):
        """Writes null, which the comments of params.yaml speak of, where ruamel.yaml would write nothing."""

    Representer.add_representer(type(None), lambda this, _: this.represent_scalar("tag:yaml.org,2002:null", "null"))
    yaml = YAML()
    yaml.Representer = Representer
    yaml.preserve_quotes = True
    yaml.width = 4096
    return yaml
