"""Models scored on documents by a process of its own, so that TensorFlow and its crashes stay out of the job."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import elman
from elman.artifacts import read_json, read_table, write_json
from elman.errors import StageError
from elman.retraining.document_scores import DocumentScores
from elman.retraining.process import run_logged

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("label", pa.string()),
        ("predicted", pa.string()),  # of a classifier
        ("nll_nats", pa.float64()),  # of a language model: summed over the document's tokens, eos included
        ("num_bytes", pa.int64()),  # of the document as it stands in the table, and one for its eos
    ]
)


@dataclass(frozen=True, kw_only=True)
class Packing:
    """A package to be written before the scoring.

    Attributes:
        cell_folder: models/<task>/<cell> of a workspace.
        out: The package.
        params: What the model was trained with.
        metrics: What it reached.
        provenance: Hashes and commit of what it was made from.
    """

    cell_folder: str
    out: str
    params: Mapping[str, Any]
    metrics: Mapping[str, Any]
    provenance: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """One model on one table.

    Attributes:
        package: Its package.
        documents: A prepared table with id, text and label.
        out: The table of scores (`SCHEMA`).
    """

    package: str
    documents: str
    out: str


def score(folder: Path, scorings: Sequence[Scoring], *, packing: Packing | None = None, step: str) -> None:
    """Writes the package and the scores.

    Args:
        folder: Gets the request, the log and the guard.
        scorings: What to score.
        packing: What to pack before.
        step: Names it in errors.

    Raises:
        StageError: It failed; what it said is in the message.
    """
    folder.mkdir(parents=True, exist_ok=True)
    request, log = folder / f"{step}.json", folder / f"{step}.log"
    log.unlink(missing_ok=True)
    value = {"packing": packing and asdict(packing), "scorings": [asdict(one) for one in scorings]}
    write_json(request, value)
    code = run_logged(
        [sys.executable, "-m", "elman.retraining.contest", str(request)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(elman.__file__).resolve().parents[1])},
        log=log,
        guard=folder / f"{step}.guard",
    )
    if code:
        shown = "\n".join(log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-15:])
        raise StageError(f"{step} failed with exit code {code}; the log is {log}. Its last lines:\n{shown}", stage=step)


def read_request(path: Path) -> tuple[Packing | None, list[Scoring]]:
    """What `score` asks for."""
    value = read_json(path)
    return value["packing"] and Packing(**value["packing"]), [Scoring(**one) for one in value["scorings"]]


def read_scores(path: Path, class_names: Sequence[str]) -> DocumentScores:
    """Scores as the gate takes them.

    Args:
        path: What `score` wrote.
        class_names: Names of the classes by number; empty for a language model.
    """
    table = read_table(path)
    ids = table["id"].to_numpy()
    if not class_names:
        return DocumentScores(ids=ids, nll_nats=table["nll_nats"].to_numpy(), num_bytes=table["num_bytes"].to_numpy())
    numbers = {name: number for number, name in enumerate(class_names)}
    labels, predicted = (np.array([numbers[one] for one in table[name].to_pylist()]) for name in ("label", "predicted"))
    return DocumentScores(ids=ids, labels=labels, predicted=predicted)


def class_names_of(*tables: Path, first: Sequence[str]) -> list[str]:
    """All names of classes: `first` in their order, then what else the tables hold."""
    found = {
        name
        for path in tables
        for column in ("label", "predicted")
        for name in read_table(path, columns=[column])[column].to_pylist()
        if name is not None
    }
    return [*first, *sorted(found - set(first))]
