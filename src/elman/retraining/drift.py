"""Drift: whether new text is further from the champion's than chance would take it."""

import numpy as np
import numpy.typing as npt

from elman.config import RetrainingConfig
from elman.metrics.paired_bootstrap import resampled_totals
from elman.retraining.drift_measures import Measures
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

    Args:
        reference: Documents of the accepted data that the champion has not learned from.
        new: New documents.
        config: drift_false_alarms, the share of unchanged data in which any measure raises an alarm.
        seed: Of the draws.
        resamples: How often to draw.

    References:
        efron1979bootstrap, westfall1993resampling in docs/references.bib.
    """
    found: dict[str, DriftMeasure] = {}
    if len(new) and len(reference):
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
    measures = Measures(reference, new)
    columns = [measures.columns(sample) for sample in (reference, new)]
    before, after = (part.sum(axis=0)[None] for part in columns)
    thresholds: list[float | None] = [None] * len(measures.names)
    if len(reference) >= MIN_REFERENCE:
        pool = measures.with_rare(columns[0])
        drawn = [
            resampled_totals(pool, resamples=resamples, seed=2 * seed + place, size=size)
            for place, size in enumerate((len(reference), len(new)))
        ]
        limits, _ = common_limits(measures.apart(*drawn)[1], rate=rate)
        thresholds = [*measures.thresholds(before, after, limits)]
    distances = measures.apart(before, after)[0][0].tolist()
    rows = zip(measures.values(before), measures.values(after), distances, thresholds, strict=True)
    return {
        name: DriftMeasure(
            reference=old,
            new=now,
            distance=distance,
            threshold=threshold,
            alarm=threshold is not None and distance > threshold + _ROUNDING,
        )
        for name, (old, now, distance, threshold) in zip(measures.names, rows, strict=True)
    }


def common_limits(statistics: FloatArray, *, rate: float) -> tuple[FloatArray, float]:
    """For each measure the statistic above which, in all measures together, `rate` of further rows lie.

    With the rank of a row in a measure the number of rows that are as far or farther, a row raises an alarm at the
    level t where its smallest rank is t or less; t is the largest level at which no more than rate * (R + 1) - M of
    the R rows do. A further row lies above the threshold of one of the M measures with probability (t + 1) / (R + 1)
    and not t / R, hence the M.

    Args:
        statistics: float64 (R, M).
        rate: Share of the rows.

    Returns:
        float64 (M,), and the share of further rows above each.
    """
    rows, number = statistics.shape
    ascending = np.sort(statistics, axis=0)
    ranks = [rows - np.searchsorted(ascending[:, k], statistics[:, k], side="left") for k in range(number)]
    smallest = np.sort(np.min(ranks, axis=0))  # (R,)
    level = int(smallest[max(0, int(rate * (rows + 1)) - number)]) - 1
    return ascending[rows - 1 - level], (level + 1) / (rows + 1)
