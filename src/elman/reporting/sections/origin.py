"""What the numbers were made from, and how to make them again."""

from html import escape

from elman.reporting.html import definitions, section
from elman.reporting.inputs import ReportInputs


def origin_section(inputs: ReportInputs) -> str:
    """Commit, hashes and commands."""
    commands = escape("\n".join(inputs.commands))
    return section("How to make it again", definitions(inputs.origin), f"<pre>{commands}</pre>")
