"""The commands and Python examples that README.md, CONTRIBUTING.md, the Makefile and docs/ show."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.stage_deps import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = ("sh", "bash", "console", "shell")
# What an indented line has to begin with to be a command and not output or a picture.
PROGRAMS = (
    "elman", "make", "dvc", "python", "pytest", "pip", "mlflow", "git", "cat", "curl", "export", "source", "uv",
    "pre-commit", "cd", "ssh", "docker", "cp", "mkdir", "systemctl", ".venv/bin/elman", ".venv/bin/python",
)  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A line that a page shows: `page` from the top of the repository, `line` from 1."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def blocks(text: str) -> Iterator[tuple[str | None, int, list[str]]]:
    """Language, first line and lines of each block of code; the language of an indented block is None."""
    lines = [*text.splitlines(), ""]
    number = 0
    while number < len(lines):
        if fence := re.match(r"(```+|~~~+)(\w*)", lines[number]):
            end = next(k for k in range(number + 1, len(lines)) if lines[k].startswith(fence[1]))
            yield fence[2], number + 2, lines[number + 1 : end]
            number = end + 1
        elif lines[number].startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            end = next(k for k in range(number, len(lines)) if (lines[k].strip() and not lines[k].startswith("    "))
                       or k == len(lines) - 1)  # fmt: skip
            yield None, number + 1, [line[4:] for line in lines[number:end]]
            number = end
        else:
            number += 1


def commands_in(page: str, text: str) -> list[Shown]:
    """The commands of a page's blocks: every line of a shell block, and what begins with a program elsewhere."""
    found = []
    for language, first, lines in blocks(text):
        if language is not None and language not in SHELL:
            continue
        number = 0
        while number < len(lines):
            start, line = number, lines[number].removeprefix("$ ")
            while line.endswith("\\"):
                number += 1
                line = f"{line[:-1].rstrip()} {lines[number].strip()}"
            number += 1
            words = line.split()
            if words and not line.startswith(("#", " ")) and (language in SHELL or words[0] in PROGRAMS):
                found.append(Shown(page, first + start, line))
    return found


def mentioned_in(page: str, text: str) -> list[Shown]:
    """Commands of elman and make within sentences, as `elman doctor --store`."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("    "):
            found += [Shown(page, number, shown) for shown in re.findall(r"(?<!`)`((?:elman|make) [^`]+)`(?!`)", line)]
    return found


def python_in(page: str, text: str) -> list[Shown]:
    """The Python examples of a page."""
    return [Shown(page, first, "\n".join(lines)) for language, first, lines in blocks(text) if language == "python"]


def recipes() -> list[Shown]:
    """The commands of the Makefile."""
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    texts = [(number, line.strip().lstrip("@")) for number, line in enumerate(lines, start=1) if line.startswith("\t")]
    return [Shown("Makefile", number, text) for number, text in texts if text.split()[0] in PROGRAMS]


def everything(collect: object) -> list[Shown]:
    """What `collect` finds on all pages."""
    assert callable(collect)
    names = [path.relative_to(ROOT).as_posix() for path in PAGES]
    return [one for name, path in zip(names, PAGES, strict=True) for one in collect(name, path.read_text("utf-8"))]


def simple_commands(text: str) -> list[tuple[list[str], str | None]]:
    """The commands of a line with their words, and the file that a pipe feeds to each.

    `cat new.txt | elman classify gru` is one command that is fed new.txt; a command in $(...) is one of its own.
    """
    inner = re.findall(r"\$\(((?:elman|python) [^)]*)\)", text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    found: list[tuple[list[str], str | None]] = [([*shlex.split(one)], None) for one in inner]
    words: list[str] = []
    fed = None
    for token in [*lexer, ";"]:
        if token not in ("|", "&&", "||", ";", "&"):
            words.append(token)
            continue
        if words and token == "|" and words[0] == "cat":
            fed = words[1]
        elif words:
            found.append((words, fed))
            fed = None
        words = []
    return found


def names_of_tests(path: Path) -> set[str]:
    """The names of the tests in a file."""
    return set(re.findall(r"^\s*def (test_\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
