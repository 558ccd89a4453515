"""What the evaluate stage writes for a classifier only: its classes, its calibration, its most confident mistakes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from elman.artifacts import read_json, write_csv, write_json
from elman.evaluation.calibration import calibration
from elman.evaluation.classifier import ClassifierEvaluation
from elman.evaluation.inputs import Inputs
from elman.evaluation.mistakes import most_confident_mistakes
from elman.evaluation.scores import Evaluation
from elman.metrics.classification import confusion_matrix, per_class


def write_classifier_tables(inputs: Inputs, found: Mapping[str, Sequence[Evaluation]]) -> None:
    """Writes per_class.json, confusion.csv, calibration.json and mistakes.json.

    Args:
        inputs: Where to read and write.
        found: Each seed's evaluation on "valid" and "test".

    Raises:
        ArtifactError: labels.json or the prepared text is missing or damaged.
    """
    labels = read_json(inputs.prepared / "labels.json")["labels"]
    scores = {
        name: [one.scores for one in evaluations if isinstance(one, ClassifierEvaluation)]
        for name, evaluations in found.items()
    }
    _write_classes(inputs.out, labels, found["test"])
    write_json(inputs.out / "calibration.json", calibration(scores["valid"], scores["test"]))
    mistakes = most_confident_mistakes(scores["test"], labels, inputs.prepared / "test.parquet")
    write_json(inputs.out / "mistakes.json", {"version": 1, "mistakes": mistakes})


def _write_classes(out: Path, labels: Sequence[str], evaluations: Sequence[Evaluation]) -> None:
    """per_class.json (means over seeds) and confusion.csv (one row a document and seed, for `dvc plots`)."""
    scores = [evaluation.scores for evaluation in evaluations if isinstance(evaluation, ClassifierEvaluation)]
    tables = [per_class(seed.labels, seed.predicted, len(labels)) for seed in scores]
    confusion = sum(confusion_matrix(seed.labels, seed.predicted, len(labels)) for seed in scores)
    means = {
        name: np.mean([getattr(t, name) for t in tables], axis=0).tolist() for name in ("precision", "recall", "f1")
    }
    support = tables[0].support.tolist()
    write_json(
        out / "per_class.json",
        {
            "version": 1,
            "labels": list(labels),
            **means,
            "support": support,
            "confusion": np.asarray(confusion).tolist(),
        },
    )
    rows = [(labels[a], labels[p]) for seed in scores for a, p in zip(seed.labels, seed.predicted, strict=True)]
    write_csv(out / "confusion.csv", ["actual", "predicted"], rows)
