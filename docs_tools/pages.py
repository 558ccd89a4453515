"""Pages of the site that stand nowhere in docs/: parts of README.md, other files at the top, and files that are linked.

README.md stays the only copy of its text. Each of its sections is on one page of the site, under the same anchor.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# The sections of each page; the page of `START` begins with what stands before the first section.
START = "index.md"
SECTIONS = {
    START: ("Two commands", "What you get", "Retrain on a schedule", "The tree", "When something fails", "Limits"),
    "guides/own-data.md": ("Your own text",),
    "guides/use.md": ("Use what was trained",),
    "guides/compare.md": ("Which one is better", "How the figures are made"),
    "guides/change.md": ("Change one thing",),
    "guides/pytorch.md": ("Weights from PyTorch",),
    "guides/gpu.md": ("GPU",),
}
WHOLE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
# Where links to parts of the repository lead that the reference tells of.
REFERENCE = {
    "params.yaml": "reference/params.md",
    "src/elman/cli.py": "reference/commands.md",
    "src/elman/layers": "reference/layers.md",
    "src/elman/metrics": "reference/metrics.md",
    "docs/references.bib": "reference/literature.md",
}
_HEADING = re.compile(r"^## (.+)$", flags=re.MULTILINE)


def readme_pages(readme: str) -> dict[str, str]:
    """Path in the site -> text, for every page that is made of README.md.

    Raises:
        ValueError: A section stands on no page, or a page names one that is not there.
    """
    start, *rest = _HEADING.split(readme)
    found = dict(zip(rest[::2], rest[1::2], strict=True))
    placed = {title for titles in SECTIONS.values() for title in titles}
    if placed != set(found):
        raise ValueError(
            f"README.md and docs_tools/pages.py disagree about sections: {sorted(placed ^ set(found))}; put each "
            "section of the README on one page of SECTIONS"
        )
    made = {}
    for page, titles in SECTIONS.items():
        text = "".join(f"## {title}{found[title]}" for title in titles)
        # A page of one section has its title as the page's, and all headings below it one level up.
        made[page] = start + text if page == START else _raised(text) if len(titles) == 1 else text.removeprefix("#")
    return made


def anchor(title: str) -> str:
    """The anchor of a heading, as a code host and the site both make it."""
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"`", "", title).strip().lower())
    return kept.replace(" ", "-")


def page_of_section(fragment: str) -> str:
    """The page that holds the README's section with this anchor; the first page where there is none."""
    for page, titles in SECTIONS.items():
        if fragment in map(anchor, titles):
            return page
    return START


def _raised(text: str) -> str:
    """Every heading one level up, outside of code."""
    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else re.sub(r"^##", "#", part, flags=re.MULTILINE) for part in parts)
