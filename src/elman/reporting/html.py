"""Building blocks of a report's page."""

from collections.abc import Sequence
from html import escape


def section(heading: str, *parts: str) -> str:
    """A part of the page under a heading of its own."""
    return "\n".join([f"<h2>{escape(heading)}</h2>", *parts])


def remark(text: str) -> str:
    """A line that explains what stands above it."""
    return f'<p class="soft">{escape(text)}</p>'


def figures(drawings: Sequence[str]) -> str:
    """Drawings (as `as_svg` gives them) side by side where there is room."""
    return f'<div class="figures">{"".join(f"<figure>{drawing}</figure>" for drawing in drawings)}</div>'


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, texts: bool = False) -> str:
    """A table whose first column names the row; it scrolls on its own where it is wider than the page.

    Args:
        heads: Of all columns.
        rows: Plain text.
        texts: Whether the cells hold words rather than numbers, and start on the left.
    """
    kind = ' class="texts"' if texts else ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return f'<div class="scroll"><table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def folded(summary: str, *parts: str) -> str:
    """Parts behind a line that opens them; on paper they are open."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def definitions(facts: Sequence[tuple[str, str]]) -> str:
    """Names, each with what it stands for."""
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{escape(value)}</dd>' for name, value in facts)}</dl>"
