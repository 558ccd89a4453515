"""Links of a page that leave docs/: right in the repository, they are led to a page of the site.

A link to README.md goes to the page with that section, one to another file of the repository, such as
`../params.yaml`, to a page that shows the file.
"""

import posixpath
import re
from collections.abc import Callable
from pathlib import PurePosixPath

from docs_tools.pages import REFERENCE, START, WHOLE, page_of_section

# A stretch of code, or the end of a link's text and its target.
_LINK = re.compile(r"(?P<code>^```.*?^```|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))|\]\((?P<target>[^)\s]+)\)",
                   flags=re.DOTALL | re.MULTILINE)  # fmt: skip
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|#|/")
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json", ".sh": "sh"}


def linked(text: str) -> list[str]:
    """The targets of all links and pictures outside of code that name a file."""
    found = [match["target"] for match in _LINK.finditer(text)]
    return [target for target in found if target is not None and not _ELSEWHERE.match(target)]


def resolved(target: str, *, origin: str) -> tuple[str, str]:
    """The path in the repository that a link means, and its fragment.

    Args:
        target: As it stands in the link.
        origin: Path in the repository of the file that it stands in.
    """
    path, _, fragment = target.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(origin), path)), fragment


def page_of(path: str, fragment: str = "") -> str:
    """The path in the site of a file of the repository."""
    if path in (made := REFERENCE | WHOLE):
        return made[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path == "README.md":
        return page_of_section(fragment) if fragment else START
    return f"files/{path}.md"


def rewritten(text: str, *, origin: str, page: str) -> str:
    """The text with every link to a file led to its page of the site.

    Args:
        text: Markdown.
        origin: Path in the repository of the file that the text is from.
        page: Path in the site of the page that the text becomes.
    """

    def led(match: re.Match[str]) -> str:
        target = match["target"]
        if target is None or _ELSEWHERE.match(target):
            return match[0]
        path, fragment = resolved(target, origin=origin)
        there = posixpath.relpath(page_of(path, fragment), posixpath.dirname(page) or ".")
        return f"]({there}{'#' + fragment if fragment else ''})"

    return _LINK.sub(led, text)


def outside(texts: dict[str, str]) -> set[str]:
    """The files of the repository that pages link to and that have no page yet; `texts` by path in the repository."""
    found = {resolved(target, origin=origin)[0] for origin, text in texts.items() for target in linked(text)}
    return {path for path in found if page_of(path).startswith("files/")}


def file_page(path: str, read: Callable[[str], str]) -> str:
    """A page that shows a file of the repository."""
    language = _LANGUAGES.get(PurePosixPath(path).suffix, "text")
    return f"# {path}\n\n~~~~~~{language}\n{read(path).rstrip()}\n~~~~~~\n"
