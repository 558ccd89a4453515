"""The pages of the Python reference, which mkdocstrings fills from docstrings, and the page of the literature."""

import ast
import re
import unicodedata
from pathlib import Path

PYTHON = (
    "elman.load",
    "elman.train",
    "elman.using.streaming.stream.Stream",
    "elman.using.text_classifier.TextClassifier",
    "elman.using.text_language_model.TextLanguageModel",
    "elman.using.answers.Classification",
    "elman.using.answers.Score",
    "elman.using.generating.generated.Generated",
)
_WORDS = {
    "Python": "`elman.load`, `elman.train`, `elman.Stream`, and what they give. Examples: [From Python](../python.md).",
    "Layers": "Recurrent layers on the fast kernels, and the layers around them. All are Keras layers.",
    "Metrics": "Functions of sums and counts, each with its formula and source.",
}
# Parts of other layers, and what picks their loop.
_INNER = {"fast_loop", "forget_bias", "kernel_plan", "open_gates", "pytorch_layout"}


def reference_pages(source: Path) -> dict[str, str]:
    """Path in the site -> text; `source` is the folder of the package."""
    layers = [name for name in public_names(source / "layers") if name.split(".")[2] not in _INNER]
    listed = {"Python": PYTHON, "Layers": layers, "Metrics": public_names(source / "metrics")}
    made = {}
    for title, names in listed.items():
        parts = [f"# {title}", _WORDS[title], *(f"::: {name}" for name in names)]
        made[f"reference/{title.lower()}.md"] = "\n\n".join(parts) + "\n"
    return made


def public_names(folder: Path) -> list[str]:
    """The public functions and classes of the modules directly in a folder of the package, by their full names."""
    found = []
    for path in sorted(folder.glob("[a-z]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        found += [f"elman.{folder.name}.{path.stem}.{name}" for name in names if not name.startswith("_")]
    return found


_FIELD = re.compile(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_PLACES = ("journal", "booktitle", "publisher", "howpublished")
# BibTeX's commands for accents, and Unicode's accents that follow their letter.
_ACCENTS = {'\\"': "\u0308", "\\'": "\u0301", "\\`": "\u0300", "\\~": "\u0303", "\\^": "\u0302", "\\v ": "\u030c"}


def literature_page(bibliography: str) -> str:
    """The entries of references.bib, each under its key."""
    parts = ["# Literature", "The keys are those under *References* in docstrings."]
    for key, body in sorted(re.findall(r"@\w+\{(\w+),(.*?)\}\s*(?=@|\Z)", bibliography, flags=re.DOTALL)):
        fields = {name.lower(): _plain(value) for name, value in _FIELD.findall(body)}
        authors = fields.get("author", "").replace(" and ", "; ").rstrip(".")
        place = next((fields[name] for name in _PLACES if name in fields), "")
        said = ". ".join(part for part in (authors, fields.get("title", ""), place) if part)
        parts.append(f"## {key}\n\n{said}, {fields['year']}.")
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """BibTeX's accents and braces as plain text."""
    for command, accent in _ACCENTS.items():
        text = re.sub(re.escape(command) + r"\{?(\w)\}?", rf"\g<1>{accent}", text)
    text = text.replace("{", "").replace("}", "").replace("--", "-").replace("\\&", "&")
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", text))
