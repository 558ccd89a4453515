"""Scores the models without a network: `python pipelines/baseline.py classifier`."""

import argparse
from pathlib import Path

from elman.baselines.run import write_baseline
from elman.config import load_params
from elman.stages import run_stage


def main() -> None:
    """Reads data/prepared and data/encoded, writes reports/<task>/baseline.json and reports/<task>/baselines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["classifier", "language_model"])
    arguments = parser.parse_args()
    result = write_baseline(
        task=arguments.task,
        prepared=Path("data/prepared"),
        encoded=Path("data/encoded"),
        tokenizer=Path("models/tokenizer"),
        reports=Path("reports") / arguments.task,
        label_fraction=load_params(Path("params.yaml")).classifier.label_fraction,
    )
    for row in result["rows"]:
        measures = ", ".join(f"{name} {values['mean']:.6g}" for name, values in row["measures"].items())
        print(f"{row['name']} ({row['description']}): {measures}")


if __name__ == "__main__":
    run_stage("baseline", main)
