"""The classifiers without a network: the most frequent class, and weighed words."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elman.artifacts import TableWriter, read_table
from elman.baselines.majority import score_majority
from elman.baselines.row import Row, baseline_row
from elman.baselines.tfidf import GRID, LabelledTexts, score_tfidf
from elman.data.label_share import share_rows
from elman.errors import ArtifactError
from elman.metrics.calibration import expected_calibration_error, reliability
from elman.metrics.classification import accuracy, macro_f1
from elman.metrics.score_columns import CLASSIFIER_SCORES, NO_SEED

SHARE_SEED = 1  # a baseline is trained once: with a share of the labels, on those of the first seed


class Splits(NamedTuple):
    """The labelled documents of a classifier."""

    train: LabelledTexts
    valid: LabelledTexts
    test: LabelledTexts


def read_splits(prepared: Path, names: Sequence[str], *, label_fraction: float = 1.0) -> Splits:
    """Reads the prepared splits, of train the share that a cell with seed 1 learns from.

    Args:
        prepared: Folder with train.parquet, valid.parquet and test.parquet.
        names: The labels by number.
        label_fraction: That share; 1 takes all.

    Raises:
        ArtifactError: A table is missing or damaged, or holds a label without a number.
    """
    splits = Splits(*(_read(prepared / f"{split}.parquet", names) for split in Splits._fields))
    if label_fraction == 1.0:
        return splits
    rows = share_rows(splits.train.labels, fraction=label_fraction, seed=SHARE_SEED)
    train = LabelledTexts([splits.train.texts[row] for row in rows], splits.train.labels[rows])
    return splits._replace(train=train)


def majority_row(splits: Splits, names: Sequence[str]) -> Row:
    """The most frequent class of train on test.

    Args:
        splits: All splits; valid is not needed.
        names: The labels by number.
    """
    score = score_majority(train=splits.train.labels, test=splits.test.labels, num_classes=len(names))
    description = f"always answers {names[score.class_id]}, the most frequent class of train"
    return baseline_row("majority", description, {"accuracy": score.accuracy, "macro_f1": score.macro_f1})


def tfidf_row(splits: Splits, names: Sequence[str], *, scores: Path) -> Row:
    """TF-IDF and logistic regression; its test scores by document.

    Args:
        splits: All splits.
        names: The labels by number.
        scores: The scores.parquet to write.

    Raises:
        MetricError: A split cannot be learned from or scored.
    """
    started = time.perf_counter()
    found = score_tfidf(**splits._asdict(), num_classes=len(names))
    seconds = time.perf_counter() - started
    labels, predicted = splits.test.labels, found.log_probabilities.argmax(axis=1)
    rows = np.arange(len(labels))
    sureness = np.exp(found.log_probabilities[rows, predicted])
    nll_nats = -found.log_probabilities[rows, labels]
    with TableWriter(scores, CLASSIFIER_SCORES) as writer:
        writer.write(
            {
                "seed": np.full(len(rows), NO_SEED),
                "id": rows,
                "label": labels,
                "predicted": predicted,
                "probability": sureness,
                "nll_nats": nll_nats,
            }
        )
    tried = ", ".join(f"{c:g}" for c in GRID)
    description = (
        "TF-IDF of words and pairs of words with logistic regression, trained on whole documents; C = "
        f"{found.c:g}, of {tried} the best on validation"
    )
    measures = {
        "accuracy": accuracy(labels, predicted),
        "macro_f1": macro_f1(labels, predicted, len(names)),
        "nll_nats_per_document": float(nll_nats.mean()),
        "expected_calibration_error": expected_calibration_error(reliability(sureness, predicted == labels)),
    }
    costs = {"parameters": found.num_weights, "train_seconds": seconds, "trials": len(GRID)}
    return baseline_row("tfidf", description, measures, costs=costs)


def _read(path: Path, names: Sequence[str]) -> LabelledTexts:
    table = read_table(path, columns=["text", "label"])
    numbers = {name: number for number, name in enumerate(names)}
    found = table["label"].to_pylist()
    if unknown := sorted({str(label) for label in found if label not in numbers}):
        raise ArtifactError(f"{path}: holds labels without a number: {', '.join(unknown[:5])}; run `dvc repro prepare`")
    return LabelledTexts(table["text"].to_pylist(), np.array([numbers[label] for label in found], np.int64))
