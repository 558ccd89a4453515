"""Trained classifiers of one row of the benchmark, scored and compared as `elman compare` does."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elman.artifacts import read_json
from elman.data.sequences import EncodedDocuments, read_encoded
from elman.evaluation.classifier import score_documents
from elman.models.classifier import Classifier
from elman.models.scoring import make_classifier_scorer
from elman.models.store import load_model
from elman.reporting.comparing.pairs import compare_systems
from elman.reporting.comparing.system import System
from elman.training.pretraining import NAME as START

TOLD = ("difference", "low", "high", "p", "test", "over_seeds", "outcome", "verdict")
NAMES = ("from drawn weights", "from the language model")


class Text(NamedTuple):
    """A data set, and where what is made of it stands."""

    name: str
    raw: Path
    work: Path

    @property
    def prepared(self) -> Path:
        """Tables and label map."""
        return self.work / "data" / "prepared"

    @property
    def encoded(self) -> Path:
        """Ids."""
        return self.work / "data" / "encoded"

    @property
    def tokenizer(self) -> Path:
        """Of all rows of this text."""
        return self.work / "models" / "tokenizer"

    @property
    def language_models(self) -> Path:
        """By cell."""
        return self.work / "models" / "language_model"


class Row(NamedTuple):
    """One comparison."""

    text: Text
    cell: str
    fraction: float

    def folder(self, name: str) -> Path:
        """Where the classifiers of one kind stand."""
        return self.text.work / "classifiers" / f"{self.cell}-{self.fraction:g}" / name


def compared(row: Row, option: str, *, seeds: tuple[int, ...], max_length: int) -> dict[str, Any]:
    """Accuracy of both kinds and the verdict, on validation and on test."""
    splits = {split: read_encoded(row.text.encoded / f"{split}.parquet") for split in ("valid", "test")}
    folders = [row.folder("none"), row.folder(option)]
    scored = [_scores(folder, splits, seeds=seeds, max_length=max_length) for folder in folders]
    starts = [read_json(folders[1] / f"seed-{seed}" / START)["sha256"] for seed in seeds]
    found: dict[str, Any] = {"start_sha256": starts}
    # The epoch with the lowest loss is kept, which need not be the one with the highest accuracy.
    highest = (_highest_accuracy(folder, seeds) for folder in folders)
    found["highest_valid_accuracy"] = dict(zip(("drawn", "pretrained"), highest, strict=True))
    for split, documents in splits.items():
        systems = [_system(name, one[split], seeds) for name, one in zip(NAMES, scored, strict=True)]
        result = compare_systems(systems)
        pair = result["pairs"][0]
        found[split] = {
            "documents": len(documents),
            "drawn": result["systems"][0],
            "pretrained": result["systems"][1],
            **{key: pair[key] for key in TOLD},
        }
    return found


def _highest_accuracy(folder: Path, seeds: tuple[int, ...]) -> float:
    """Of any epoch, on validation, the mean over seeds."""
    histories = (read_json(folder / f"seed-{seed}" / "history.json") for seed in seeds)
    return float(np.mean([max(epoch["valid/accuracy"] for epoch in history) for history in histories]))


def _scores(
    folder: Path, splits: dict[str, EncodedDocuments], *, seeds: tuple[int, ...], max_length: int
) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {split: [] for split in splits}
    for seed in seeds:
        model = load_model(folder / f"seed-{seed}")
        assert isinstance(model, Classifier)
        score = make_classifier_scorer(model)
        for split, documents in splits.items():
            found[split].append(score_documents(score, documents, max_length=max_length))
    return found


def _system(name: str, scores: list[Any], seeds: tuple[int, ...]) -> System:
    return System(
        name=name,
        task="classifier",
        seeds=seeds,
        documents={"id": scores[0].ids, "label": scores[0].labels},
        nll_nats=np.stack([one.nll_nats for one in scores]),
        predicted=np.stack([one.predicted for one in scores]),
        probability=np.stack([np.exp(one.log_probabilities.max(axis=1)) for one in scores]),
    )
