"""Packs a trained model and scores packages on documents, all by the same code: `python -m elman.retraining.contest`.

The one module here that loads TensorFlow. The job starts it as a process of its own; see `elman.retraining.scoring`.
"""

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from elman.artifacts import TableWriter, read_table
from elman.errors import ArtifactError
from elman.retraining.scoring import SCHEMA, Packing, Scoring, read_request
from elman.stages import load_tensorflow, run_stage


def main() -> None:
    """Does what the request on the command line says."""
    packing, scorings = read_request(Path(sys.argv[1]))
    load_tensorflow()
    from elman.models.device import configure_device  # TensorFlow loads here
    from elman.packages.loading import load_package

    configure_device(device="auto", threads=None, mixed_precision=False, deterministic=False)
    if packing is not None:
        _pack(packing)
    for package in dict.fromkeys(one.package for one in scorings):
        model = load_package(Path(package))
        for scoring in scorings:
            if scoring.package == package:
                _score(model, scoring)


def _pack(packing: Packing) -> None:
    """Writes the package; one that is there already is from a run that was killed, and is made anew."""
    from elman.packages.writing import write_package

    shutil.rmtree(packing.out, ignore_errors=True)
    write_package(
        Path(packing.cell_folder),
        Path(packing.out),
        params=packing.params,
        metrics=packing.metrics,
        provenance=packing.provenance,
    )


def _score(model: Any, scoring: Scoring) -> None:
    rows = read_table(Path(scoring.documents), columns=["id", "text", "label"]).to_pylist()
    if not rows:
        raise ArtifactError(f"{scoring.documents}: holds no documents to score")
    texts = [row["text"] for row in rows]
    with TableWriter(Path(scoring.out), SCHEMA) as writer:
        columns: dict[str, Iterable[Any]] = {
            "id": [row["id"] for row in rows],
            "label": [row["label"] for row in rows],
            "predicted": [None] * len(rows),
            "nll_nats": [None] * len(rows),
            "num_bytes": [len(text.encode()) + 1 for text in texts],
        }
        if model.task == "classifier":
            columns["predicted"] = [answer.label for answer in model.classify(texts)]
        else:
            columns["nll_nats"] = [answer.nll_nats for answer in model.score(texts)]
        writer.write(columns)


if __name__ == "__main__":
    run_stage("contest", main)
