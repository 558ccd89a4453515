"""Trains all seeds of one task and cell: `python pipelines/train.py classifier lstm`."""

import argparse
import os
from pathlib import Path

from elman.config import load_params
from elman.stages import load_tensorflow, run_stage
from elman.tracking.experiment import checkout_of, code_of, experiment_tags
from elman.tracking.git import git_state
from elman.tracking.tracker import Tracker, experiment_name

ROOT = checkout_of(Path(__file__))  # one store, whatever folder the stage works in


def main() -> None:
    """Reads data/encoded, writes models/<task>/<cell>."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["classifier", "language_model"])
    parser.add_argument("cell", choices=["simple_rnn", "lstm", "gru"])
    arguments = parser.parse_args()
    params = load_params(Path("params.yaml"))

    load_tensorflow()
    from elman.training.train_cell import Inputs, train_cell

    inputs = Inputs(
        encoded=Path("data/encoded"),
        tokenizer=Path("models/tokenizer"),
        labels=Path("data/prepared/labels.json"),
        checkpoints=Path("checkpoints"),
        out=Path("models") / arguments.task / arguments.cell,
    )
    name = experiment_name(params.dataset.name, arguments.task)
    with Tracker.open(root=ROOT, experiment=name) as tracker:
        tags = {
            **git_state(code_of(Path(__file__))).as_tags(),
            **experiment_tags(),
            "dvc.stage": f"train@{arguments.task}-{arguments.cell}",
        }
        tags["elman.folder"] = os.path.relpath(Path.cwd(), ROOT)  # reproduce/<preset>, a retraining's clone, or .
        train_cell(params=params, task=arguments.task, cell=arguments.cell, inputs=inputs, recorder=tracker, tags=tags)


if __name__ == "__main__":
    run_stage("train", main)
