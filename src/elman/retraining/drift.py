"""Drift: whether new text is further from the champion's than chance would take it."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elman.config import RetrainingConfig
from elman.metrics.paired_bootstrap import resampled_totals
from elman.retraining.drift_report import DriftMeasure, DriftReport
from elman.retraining.drift_sample import DriftSample

__all__ = ["DriftMeasure", "DriftReport", "DriftSample", "drift_report"]

FloatArray = npt.NDArray[np.float64]

MIN_REFERENCE = 30  # documents: fewer do not show how far chance goes
RESAMPLES = 4_000
_ROUNDING = 1e-12


def drift_report(
    reference: DriftSample, new: DriftSample, config: RetrainingConfig, *, seed: int = 1, resamples: int = RESAMPLES
) -> DriftReport:
    """Measures how far new text is from the reference, and holds it against what chance does at these sizes.

    The reference (N documents) stands for unchanged text. Again and again, N and n documents are drawn from it with
    replacement, n being the size of the new sample, and their distance is taken in each measure: so far two samples of
    one text are apart. The thresholds of all measures are the same quantile of these distances, the one at which the
    share of draws with any measure above its threshold is `drift_false_alarms`: measures that depend on each other, as
    length and surprise do, cost less than a correction for their number would.

    A reference without a single unknown token would make the first one an alarm, though a rare thing may well not stand
    in N documents. So one average document with one unknown token and one byte token more is drawn from as well.

    Args:
        reference: Documents of the accepted data that the champion has not learned from.
        new: New documents.
        config: drift_false_alarms, the share of unchanged data in which any measure raises an alarm.
        seed: Of the draws.
        resamples: How often to draw.

    References:
        efron1979bootstrap, westfall1993resampling in docs/references.bib.
    """
    found = _measured(reference, new, rate=config.drift_false_alarms, seed=seed, resamples=resamples)
    return DriftReport(
        measures=found,
        reference_documents=len(reference),
        new_documents=len(new),
        unknown_tokens=int(new.unk_tokens.sum() + (0 if new.byte_tokens is None else new.byte_tokens.sum())),
        new_tokens=int(new.num_tokens.sum()),
    )


def _measured(
    reference: DriftSample, new: DriftSample, *, rate: float, seed: int, resamples: int
) -> dict[str, DriftMeasure]:
    if not len(new) or not len(reference):
        return {}
    measures = _Measures(reference, new)
    first, second = (measures.columns(sample) for sample in (reference, new))
    before, after = (measures.values(columns.sum(axis=0)[None]) for columns in (first, second))
    distances = measures.distances(before, after)[0]
    thresholds: list[float | None] = [None] * len(measures.names)
    if len(reference) >= MIN_REFERENCE:
        pool = np.vstack([first, measures.rare(first)])
        drawn = [
            measures.values(resampled_totals(pool, resamples=resamples, seed=2 * seed + place, size=size))
            for place, size in enumerate((len(reference), len(new)))
        ]
        thresholds = list(_thresholds(measures.distances(*drawn), rate=rate))
    return {
        name: DriftMeasure(
            reference=measures.shown(name, before),
            new=measures.shown(name, after),
            distance=float(distance),
            threshold=threshold,
            alarm=threshold is not None and bool(distance > threshold + _ROUNDING),
        )
        for name, distance, threshold in zip(measures.names, distances, thresholds, strict=True)
    }


def _thresholds(distances: FloatArray, *, rate: float) -> list[float]:
    """For each measure the distance above which, in all measures together, `rate` of the rows lie at most.

    With the rank of a row in a measure the number of rows that are as far or farther, a row raises an alarm at the
    level t where its smallest rank is t or less; t is the largest level at which no more than `rate` of the rows do.

    Args:
        distances: float64 (resamples, measures).
        rate: Share of the rows.
    """
    rows = len(distances)
    ascending = np.sort(distances, axis=0)
    ranks = np.stack(
        [rows - np.searchsorted(ascending[:, k], distances[:, k], side="left") for k in range(distances.shape[1])]
    )  # (measures, resamples)
    smallest = np.sort(ranks.min(axis=0))
    level = int(smallest[min(int(rate * rows), rows - 1)]) - 1
    return [float(value) for value in ascending[rows - 1 - level]]


class _Measures:
    """The measures that two samples allow: sums of columns, and what is divided by what."""

    def __init__(self, reference: DriftSample, new: DriftSample) -> None:
        both = (reference, new)
        self.names: list[str] = []
        if all(sample.nll_nats is not None for sample in both):
            self.names.append("surprise")
        pieces = all(sample.byte_tokens is not None for sample in both)
        if not pieces or any(sample.unk_tokens.any() for sample in both):
            self.names.append("unk_share")
        if pieces:
            self.names.append("byte_share")
        self.names.append("length")
        self.classes: list[str] = []
        if all(sample.labels is not None for sample in both):
            self.names.append("label_mix")
            self.classes = sorted({label for sample in both for label in sample.labels or ()})

    def columns(self, sample: DriftSample) -> FloatArray:
        """float64 (N, 7 + C): documents, tokens, bytes, unk, byte pieces, log2 of the length, bits, and the classes."""
        number = len(sample)
        zeros = np.zeros(number)
        figures: Sequence[FloatArray] = [
            np.ones(number),
            sample.num_tokens.astype(np.float64),
            sample.num_bytes.astype(np.float64),
            sample.unk_tokens.astype(np.float64),
            zeros if sample.byte_tokens is None else sample.byte_tokens.astype(np.float64),
            np.log2(sample.num_tokens),
            zeros if sample.nll_nats is None else sample.nll_nats / math.log(2.0),
        ]
        classes = np.zeros((number, len(self.classes)))
        if self.classes and sample.labels is not None:
            places = {name: place for place, name in enumerate(self.classes)}
            classes[np.arange(number), [places[label] for label in sample.labels]] = 1.0
        return np.hstack([np.stack(figures, axis=1), classes])

    @staticmethod
    def rare(columns: FloatArray) -> FloatArray:
        """The average document with one unknown token and one byte token more; float64 (1, columns)."""
        average = columns.mean(axis=0, keepdims=True)
        average[0, [3, 4]] += 1.0
        return average

    def values(self, totals: FloatArray) -> dict[str, FloatArray]:
        """Each measure of summed columns: float64 (rows,), the label mix (rows, C)."""
        documents, tokens, size, unk, pieces, logs, bits = totals[:, :7].T
        every = {
            "surprise": bits / size,
            "unk_share": unk / tokens,
            "byte_share": pieces / tokens,
            "length": logs / documents,
            "label_mix": totals[:, 7:] / documents[:, None],
        }
        return {name: every[name] for name in self.names}

    def distances(self, first: dict[str, FloatArray], second: dict[str, FloatArray]) -> FloatArray:
        """How far apart, in each measure; float64 (rows, measures). Of label mixes the total variation distance."""
        apart = []
        for name in self.names:
            gap = np.abs(first[name] - second[name])
            apart.append(gap.sum(axis=1) / 2.0 if name == "label_mix" else gap)
        return np.stack(apart, axis=1)

    @staticmethod
    def shown(name: str, values: dict[str, FloatArray]) -> float | None:
        """A measure's single value as a person reads it; the length in tokens."""
        if name == "label_mix":
            return None
        value = float(values[name][0])
        return 2.0**value if name == "length" else value
