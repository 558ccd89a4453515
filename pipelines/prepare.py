"""Stage prepare: clean, checked and split text in data/prepared/."""

from pathlib import Path

from elman.config import load_params
from elman.data.prepare import prepare


def main() -> None:
    """Prepares the data set of params.yaml."""
    params = load_params(Path("params.yaml"))
    out = Path("data/prepared")
    summary = prepare(dataset=params.dataset, cleaning=params.prepare, out=out)
    rows = ", ".join(f"{split} {counts['rows']:,}" for split, counts in summary["splits"].items())
    print(f"{out}: {summary['rows_read']:,} rows read, {summary['rows_rejected']:,} rejected; {rows}")


if __name__ == "__main__":
    from elman.stages import run_stage

    run_stage("prepare", main)
