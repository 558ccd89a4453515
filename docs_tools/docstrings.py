"""What griffe is told about our docstrings: sections that it does not know become text that mkdocs shows well."""

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(?P<title>Weights|References):\n(?P<body>(?: {4,}\S.*\n?|\n(?= {4}))+)", flags=re.MULTILINE)


class Docstrings(griffe.Extension):
    """Reads `Example:` as griffe's `Examples:`, and gives `Weights:` and `References:` a form of their own."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Changes the docstring of an object, once."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)


def readable(text: str) -> str:
    """The docstring with sections that griffe's Google style knows."""
    text = re.sub(r"^Example:$", "Examples:", text, flags=re.MULTILINE)
    return _SECTION.sub(lambda match: _shown(match["title"], match["body"]), text)


def _shown(title: str, body: str) -> str:
    if title == "References":
        keys = re.findall(r"\b[a-z]+\d{4}[a-z]+\b", body)
        return f"**References:** {', '.join(f'[{key}](literature.md#{key})' for key in keys)}\n"
    items = re.sub(r"\n {8,}", " ", body)  # a line that goes on
    lines = [line.strip().partition(": ") for line in items.splitlines() if line.strip()]
    return "**Weights:**\n\n" + "\n".join(f"- **`{name}`** – {words}" for name, _, words in lines) + "\n"
