"""Compares the cells of one task: `python pipelines/compare.py classifier`."""

import argparse
from pathlib import Path

from elman.config import load_params
from elman.reporting.record import record_comparison
from elman.reporting.table import print_tables
from elman.reporting.write import write_comparison
from elman.stages import run_stage
from elman.tracking.experiment import checkout_of
from elman.tracking.tracker import Tracker, experiment_name

ROOT = checkout_of(Path(__file__))  # one store, whatever folder the stage works in


def main() -> None:
    """Reads reports/<task>/cells and baseline.json, writes comparison.json, report.html, report.md and figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["classifier", "language_model"])
    parser.add_argument("--command", help="what makes these numbers, where it is not the pipeline; for the report")
    arguments = parser.parse_args()
    task = arguments.task
    params = load_params(Path("params.yaml"))
    used = {"dataset", "prepare", "tokenizer", "experiment", task, f"{task}_cells"}
    comparison = write_comparison(
        reports=Path("reports"),
        task=task,
        cells=params.experiment.cells,
        dataset=params.dataset.name,
        settings=params.model_dump(mode="json", include=used),
        prepared=Path("data/prepared/summary.json"),
        encoded=Path("data/encoded/summary.json"),
        root=Path(),
        command=arguments.command,
    )
    with Tracker.open(root=ROOT, experiment=experiment_name(params.dataset.name, task)) as tracker:
        if missing := record_comparison(comparison, folder=Path("reports") / task, runs=tracker):
            print(f"the tracking store has no run of {', '.join(missing)}: the verdict stands in the report only")
    print_tables(Path("reports"), [task])


if __name__ == "__main__":
    run_stage("compare", main)
