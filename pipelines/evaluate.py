"""Evaluates all seeds of one task and cell on validation and test: `python pipelines/evaluate.py classifier lstm`."""

import argparse
from functools import partial
from pathlib import Path

from elman.config import load_params
from elman.evaluation.inputs import Inputs
from elman.reporting.cell_figures import write_cell_figures
from elman.stages import load_tensorflow, run_stage
from elman.tracking.experiment import checkout_of
from elman.tracking.tracker import Tracker, experiment_name

ROOT = checkout_of(Path(__file__))  # one store, whatever folder the stage works in


def main() -> None:
    """Reads models/<task>/<cell>, data and reports/<task>/baselines, writes reports/<task>/cells/<cell>."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["classifier", "language_model"])
    parser.add_argument("cell", choices=["simple_rnn", "lstm", "gru"])
    arguments = parser.parse_args()
    params = load_params(Path("params.yaml"))

    load_tensorflow()
    from elman.evaluation.evaluate_cell import evaluate_cell, mean_measures

    inputs = Inputs(
        models=Path("models") / arguments.task / arguments.cell,
        encoded=Path("data/encoded"),
        prepared=Path("data/prepared"),
        baselines=Path("reports") / arguments.task / "baselines",
        out=Path("reports") / arguments.task / "cells" / arguments.cell,
    )
    name = experiment_name(params.dataset.name, arguments.task)
    with Tracker.open(root=ROOT, experiment=name) as tracker:
        draw = partial(write_cell_figures, task=arguments.task, cell=arguments.cell)
        metrics = evaluate_cell(
            params=params, task=arguments.task, cell=arguments.cell, inputs=inputs, runs=tracker, draw=draw
        )
    means = mean_measures(metrics)
    shown = ", ".join(f"{name} {'n/a' if mean is None else f'{mean:.6g}'}" for name, mean in means.items())
    print(f"{arguments.task} {arguments.cell} on test: {shown}")


if __name__ == "__main__":
    run_stage("evaluate", main)
