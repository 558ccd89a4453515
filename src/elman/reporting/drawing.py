"""How the figures of a report look, and how one becomes part of a page.

On a page the text takes the colour of the page's text, so that one drawing reads on a light and on a dark ground; the
colours of the cells are of middling lightness for the same reason, and shapes tell the cells apart without colour.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.figure import Figure

MARKERS = {"simple_rnn": "s", "lstm": "o", "gru": "D"}
OTHER_COLOR, OTHER_MARKER = "#8b6fc0", "^"
BASELINE_COLOR = "#8a8f98"
# Stand-ins that no drawing uses otherwise; `as_svg` puts the page's own colours in their place.
_TEXT, _LINE = "#010203", "#040506"


@contextmanager
def style(*, for_page: bool) -> Iterator[None]:
    """Settings for the figures made inside the block."""
    text, line = (_TEXT, _LINE) if for_page else ("#1c1e21", "#c9ccd1")
    settings = {
        "font.size": 9,
        "text.color": text,
        "axes.labelcolor": text,
        "xtick.color": text,
        "ytick.color": text,
        "axes.edgecolor": line,
        "grid.color": line,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context(settings):
        yield


def as_svg(figure: Figure, *, label: str) -> str:
    """The drawing as an element of a page: scales with its column, takes the page's colours, and has a spoken label."""
    buffer = io.StringIO()
    # Text stays text. The salt gives equal drawings equal bytes, and two drawings of one page different ids.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": label}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 system-ui, sans-serif", svg)
    width = re.search(r'<svg[^>]*? width="([\d.]+)pt"', svg)
    assert width is not None, "matplotlib writes the width in points"
    svg = re.sub(r'(<svg[^>]*?) width="[\d.]+pt"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[\d.]+pt"', r"\1", svg, count=1)
    spoken = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    scale = f'role="img" aria-label="{spoken}" style="width:100%;max-width:{float(width[1]) * 1.4:.0f}px"'
    return svg.replace("<svg ", f"<svg {scale} ", 1).replace(_TEXT, "currentColor").replace(_LINE, "var(--line)")
