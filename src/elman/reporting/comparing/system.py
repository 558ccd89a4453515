"""One system's per-document scores, as the evaluate and baseline stages write them."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elman.artifacts import read_json, read_table
from elman.errors import ArtifactError

Array = npt.NDArray[Any]


class System(NamedTuple):
    """Scores by seed S and document N, documents sorted by id. A baseline has the one seed 0.

    Attributes:
        name: What the user called it.
        task: "classifier" or "language_model".
        seeds: The seeds, in the order of the rows below.
        documents: For each column that describes the documents, (N,): id and label, or id, num_words, num_bytes and
            num_tokens.
        nll_nats: float64 (S, N).
        predicted: int32 (S, N), a classifier's choice; None for a language model.
        probability: float32 (S, N), of that choice; None for a language model.
    """

    name: str
    task: str
    seeds: tuple[int, ...]
    documents: dict[str, Array]
    nll_nats: npt.NDArray[np.float64]
    predicted: Array | None
    probability: Array | None


_COLUMNS = {
    "classifier": ("id", "label"),
    "language_model": ("id", "num_words", "num_bytes", "num_tokens"),
}


def read_system(folder: Path, *, name: str, seed: int | None = None) -> System:
    """Reads `scores.parquet` of a folder, and holds it against `metrics.json` where the folder is a cell's.

    Args:
        folder: reports/<task>/cells/<cell>, its `mixture`, reports/<task>/baselines/<name>, or a copy of one.
        name: What to call the system.
        seed: Take this seed only.

    Raises:
        ArtifactError: A file is missing, or does not hold whole seeds over the same documents.
    """
    path = folder / "scores.parquet"
    if not path.is_file():
        raise ArtifactError(
            f"{name}: {folder} holds no scores.parquet, so that nothing can be compared by document; run `dvc repro`"
        )
    table = read_table(path)
    task = "classifier" if "predicted" in table.column_names else "language_model"
    needed = {"seed", "nll_nats", *_COLUMNS[task], *(["probability"] if task == "classifier" else [])}
    if missing := sorted(needed - set(table.column_names)):
        raise ArtifactError(f"{path}: lacks the columns {', '.join(missing)}; run `dvc repro` to write it anew")
    if table.num_rows == 0:
        raise ArtifactError(f"{path}: holds no document; is the test split empty?")
    system = _by_seed(table, path, name=name, task=task)
    _check_metrics(folder, system)
    if seed is None:
        return system
    if seed not in system.seeds:
        raise ArtifactError(f"{path}: has the seeds {list(system.seeds)}, and not {seed}")
    row = [system.seeds.index(seed)]
    predicted, probability = (None if one is None else one[row] for one in (system.predicted, system.probability))
    return system._replace(seeds=(seed,), nll_nats=system.nll_nats[row], predicted=predicted, probability=probability)


def _by_seed(table: pa.Table, path: Path, *, name: str, task: str) -> System:
    columns = {key: table[key].to_numpy() for key in table.column_names}
    order = np.lexsort((columns["id"], columns["seed"]))
    seeds, counts = np.unique(columns["seed"], return_counts=True)
    if len(set(counts.tolist())) > 1:
        found = dict(zip(seeds.tolist(), counts.tolist(), strict=True))
        raise ArtifactError(f"{path}: documents by seed {found}; each seed scores all of them: it was half written")
    shaped = {key: values[order].reshape(len(seeds), -1) for key, values in columns.items()}  # (S, N)
    for key in _COLUMNS[task]:
        if (shaped[key] != shaped[key][0]).any():
            raise ArtifactError(f"{path}: the seeds differ in {key}, which a seed cannot change; run `dvc repro`")
    if (np.diff(shaped["id"][0]) == 0).any():
        raise ArtifactError(f"{path}: a document's id stands twice in one seed; run `dvc repro` to write it anew")
    if task == "language_model" and not np.isfinite(shaped["nll_nats"]).all():
        raise ArtifactError(f"{path}: a score is not finite; such a model cannot be compared")
    documents = {key: shaped[key][0] for key in _COLUMNS[task]}
    chosen, probability = shaped.get("predicted"), shaped.get("probability")
    return System(name, task, tuple(map(int, seeds)), documents, shaped["nll_nats"], chosen, probability)


def _check_metrics(folder: Path, system: System) -> None:
    """A cell's folder has measures and scores of the same seeds, and so has its mixture, or it was half written."""
    mixed = folder.name == "mixture"
    path = folder.parent / "mixture.json" if mixed else folder / "metrics.json"
    if not path.is_file():
        if folder.parent.name != "cells" and not mixed:
            return
        raise ArtifactError(f"{system.name}: {folder} was half written: no {path.name}; run `dvc repro`")
    metrics = read_json(path)
    listed = metrics.get("seeds") if isinstance(metrics, dict) else None
    if listed is not None and sorted(listed) != list(system.seeds):
        raise ArtifactError(
            f"{system.name}: {folder} was half written: {path.name} has the seeds {listed}, scores.parquet "
            f"{list(system.seeds)}; run `dvc repro`"
        )
