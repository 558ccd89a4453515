"""`python -m docs_tools.figures` draws the figures of docs/concepts anew."""

import argparse
from pathlib import Path

from docs_tools.pages import ROOT
from elman.stages import quiet_tensorflow

FIGURES = ("state", "gates", "masks", "truncation", "perplexity")


def main() -> None:
    """Computes and writes each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "concepts" / "figures")
    out = parser.parse_args().out
    quiet_tensorflow()
    import importlib

    from elman.reporting.cell_figures import save_figures

    for name in FIGURES:
        module = importlib.import_module(f"docs_tools.concepts.{name}")
        save_figures({name: module.draw(module.values())}, out)


if __name__ == "__main__":
    main()
