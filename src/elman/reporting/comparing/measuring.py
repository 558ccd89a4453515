"""A measure of each system: on the documents, on resampled documents, and by seed.

How seeds and documents enter: a system's figure is the mean over its seeds. Documents are resampled for all seeds and
systems together, so that an interval over documents is about these trained models on other documents. What another set
of seeds would change is another question, with an interval of its own.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from elman.errors import MetricError
from elman.metrics.calibration import BINS, confidence_bins
from elman.metrics.paired_bootstrap import resampled_totals
from elman.reporting.comparing.system import System
from elman.reporting.measures import COMPARED

FloatArray = npt.NDArray[np.float64]

MEASURES = {task: tuple(measure.key for measure in measures) for task, measures in COMPARED.items()}
DEFAULTS = {task: measures[0] for task, measures in MEASURES.items()}
# No sums over documents, so that flips of per-document scores do not test them; their p is the bootstrap's.
WHOLE_SET = ("macro_f1", "expected_calibration_error")
_COUNTS = {
    "bits_per_byte": "num_bytes",
    "perplexity_per_word": "num_words",
    "perplexity": "num_tokens",
    "nll_nats_per_token": "num_tokens",
}


class Measured(NamedTuple):
    """One system's figure.

    Attributes:
        value: On the test documents, the mean over seeds.
        resampled: float64 (R,). The same on each resample.
        by_seed: The figure of each seed.
        per_document: float64 (N,). Mean over seeds: 1 for right where accuracy is measured, else nats.
    """

    value: float
    resampled: FloatArray
    by_seed: dict[int, float]
    per_document: FloatArray


def measure_systems(systems: Sequence[System], measure: str, *, resamples: int, seed: int) -> list[Measured]:
    """Each system's figure, its resampled values and those of its seeds; documents are drawn once, for all systems.

    Args:
        systems: Of one task, on the same documents.
        measure: One of `MEASURES` of that task.
        resamples: R, how often documents are drawn.
        seed: Of the draws.

    Raises:
        MetricError: The task has no such measure.
    """
    task = systems[0].task
    if measure not in MEASURES[task]:
        raise MetricError(f"a {task} is compared by {', '.join(MEASURES[task])}; {measure!r} came")
    blocks = [_columns(system, measure) for system in systems]  # (N, K) each
    joined = sparse.hstack(blocks).tocsr() if sparse.issparse(blocks[0]) else np.hstack(blocks)
    totals = resampled_totals(joined, resamples=resamples, seed=seed)  # (R, sum of K)
    ends = np.cumsum([block.shape[1] for block in blocks])
    parts = np.split(totals, ends[:-1], axis=1)
    return [_measured(*each, measure) for each in zip(systems, blocks, parts, strict=True)]


def _measured(system: System, columns: FloatArray | sparse.csr_matrix, totals: FloatArray, measure: str) -> Measured:
    observed = _by_seed(np.asarray(columns.sum(axis=0), np.float64).reshape(1, -1), system, measure)[0]  # (S,)
    resampled = _by_seed(totals, system, measure).mean(axis=1)
    scores = _right(system) if measure == "accuracy" else system.nll_nats
    by_seed = {number: float(value) for number, value in zip(system.seeds, observed, strict=True)}
    return Measured(float(observed.mean()), resampled, by_seed, scores.mean(axis=0))


def _right(system: System) -> FloatArray:
    assert system.predicted is not None
    return np.asarray(system.predicted == system.documents["label"], np.float64)  # (S, N)


def _columns(system: System, measure: str) -> FloatArray | sparse.csr_matrix:
    """Sums and counts by document: one block a seed, and what all seeds share last."""
    if system.predicted is None:
        return np.column_stack([*system.nll_nats, system.documents[_COUNTS[measure]]]).astype(np.float64)
    right, labels = _right(system), system.documents["label"]
    if measure in ("accuracy", "nll_nats_per_document"):
        return np.column_stack([*(right if measure == "accuracy" else system.nll_nats), np.ones(len(labels))])
    if measure == "expected_calibration_error":
        assert system.probability is not None
        gaps = [
            _marks(confidence_bins(sure), BINS, sure - hits)
            for sure, hits in zip(system.probability, right, strict=True)
        ]
        return sparse.hstack([*gaps, sparse.csr_matrix(np.ones((len(labels), 1)))]).tocsr()
    classes = _classes(system)
    blocks = []
    for seed, predicted in enumerate(system.predicted):
        blocks += [_marks(labels, classes, right[seed]), _marks(predicted, classes, np.ones(len(labels)))]
    return sparse.hstack([*blocks, _marks(labels, classes, np.ones(len(labels)))]).tocsr()


def _by_seed(totals: FloatArray, system: System, measure: str) -> FloatArray:
    """The measure (R, S) from totals (R, K): one division, at the end."""
    if measure == "macro_f1":
        return _macro_f1(totals, seeds=len(system.seeds), classes=_classes(system))
    if measure == "expected_calibration_error":  # sum over bins of |sum of confidence - right|, over N
        gaps = np.abs(totals[:, :-1]).reshape(len(totals), len(system.seeds), BINS).sum(axis=2)
        return np.asarray(gaps / totals[:, -1:])
    ratio: FloatArray = totals[:, :-1] / totals[:, -1:]
    if measure == "bits_per_byte":
        return ratio / math.log(2.0)
    if not measure.startswith("perplexity"):
        return ratio
    if ratio.max() > 350.0:  # the square of exp of more, which a spread needs, is no float64
        raise MetricError(f"{system.name}: its {measure} is too large for a number; compare by bits_per_byte")
    return np.exp(ratio)


def class_f1(system: System, *, resamples: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """F1 of each class: of each seed on the documents as they are (S, C), and the mean over seeds on resamples (R, C).

    C is one more than the highest class id that occurs as label or prediction.
    """
    columns = _columns(system, "macro_f1")
    totals = resampled_totals(columns, resamples=resamples, seed=seed)
    sizes = {"seeds": len(system.seeds), "classes": _classes(system)}
    observed, _ = _f1(np.asarray(columns.sum(axis=0), np.float64).reshape(1, -1), **sizes)
    resampled, _ = _f1(totals, **sizes)
    return observed[0], resampled.mean(axis=1)


def _macro_f1(totals: FloatArray, *, seeds: int, classes: int) -> FloatArray:
    """Mean F1 (R, S) over the classes that have support or are chosen, as in the reports."""
    f1, occurs = _f1(totals, seeds=seeds, classes=classes)
    return np.asarray(f1.sum(axis=2) / occurs.sum(axis=2))


def _f1(totals: FloatArray, *, seeds: int, classes: int) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """2 TP / (support + chosen), 0 for a class that does not occur, and whether it occurs: (R, S, C) each."""
    both = totals[:, :-classes].reshape(len(totals), seeds, 2, classes)
    hits, chosen = both[:, :, 0], both[:, :, 1]
    whole = totals[:, None, -classes:] + chosen
    return np.divide(2.0 * hits, whole, out=np.zeros_like(whole), where=whole > 0), whole > 0


def _classes(system: System) -> int:
    assert system.predicted is not None
    return int(max(system.predicted.max(), system.documents["label"].max())) + 1


def _marks(ids: npt.NDArray[np.integer], classes: int, values: FloatArray) -> sparse.csr_matrix:
    rows = np.arange(len(ids))
    return sparse.csr_matrix((values, (rows, ids)), shape=(len(ids), classes))


def median_seed(by_seed: dict[int, float]) -> int:
    """The seed in the middle (the lower of two): the model that stands for a system where a test takes one.

    Example:
        >>> median_seed({1: 0.9, 2: 0.7, 3: 0.8})
        3
    """
    ordered: Sequence[int] = sorted(by_seed, key=lambda seed: (by_seed[seed], seed))
    return ordered[(len(ordered) - 1) // 2]
