"""The measures of drift: sums over documents, and how far two samples are apart."""

import math

import numpy as np
import numpy.typing as npt

from elman.retraining.drift_sample import DriftSample

FloatArray = npt.NDArray[np.float64]

_LEAST_ERROR = 1e-12  # a standard error of 0, as of documents that are all alike, would divide by 0
_RARE = ("unk_share", "byte_share")
_ROOT_SHIFT = 0.375  # added to a count before its root is taken


class Measures:
    """The measures that two samples allow.

    surprise and length are ratios of sums, sum x / sum y (bits and bytes; log2 of the tokens and documents). Their
    distance is divided by its standard error, so that the threshold follows the spread of both samples.

    unk_share and byte_share count what is rare and comes in heaps. Two such counts are compared by their roots, whose
    spread hardly depends on the rate, and only a rise counts: it is coverage that may be lost.

    label_mix is the Hellinger distance of two mixes, sqrt(sum (sqrt p - sqrt q)^2 / 2): 0 where they are equal, 1 where
    they have no label in common. By the roots a small class that grows counts for as much as chance makes it likely.

    Attributes:
        names: Those that can be taken, in this order.
        classes: Labels of both samples, sorted.

    References:
        anscombe1948transformation in docs/references.bib.
    """

    def __init__(self, reference: DriftSample, new: DriftSample) -> None:
        both = (reference, new)
        pieces = all(sample.byte_tokens is not None for sample in both)
        allowed = {
            "surprise": all(sample.nll_nats is not None for sample in both),
            # A tokenizer with byte pieces has no unknown tokens.
            "unk_share": not pieces or any(sample.unk_tokens.any() for sample in both),
            "byte_share": pieces,
            "length": True,
            "label_mix": all(sample.labels is not None for sample in both),
        }
        self.names = [name for name, is_allowed in allowed.items() if is_allowed]
        self.classes: list[str] = []
        if allowed["label_mix"]:
            self.classes = sorted({label for sample in both for label in sample.labels or ()})

    def columns(self, sample: DriftSample) -> FloatArray:
        """What is added up over documents: x, y, x^2, xy, y^2 of each ratio, the classes and 0; (N, columns)."""
        pairs = {
            "surprise": (sample.nll_nats, math.log(2.0) * sample.num_bytes),
            "unk_share": (sample.unk_tokens, sample.num_tokens),
            "byte_share": (sample.byte_tokens, sample.num_tokens),
            "length": (np.log2(sample.num_tokens), np.ones(len(sample))),
        }
        parts: list[FloatArray] = []
        for name in self.names:
            if name in pairs:
                x, y = (np.asarray(part, np.float64) for part in pairs[name])
                parts += [x, y, x * x, x * y, y * y]
        if self.classes:
            numbers = np.searchsorted(np.array(self.classes), np.array(sample.labels))
            parts += list(np.eye(len(self.classes) + 1)[numbers].T)
        return np.stack(parts, axis=1)

    def with_rare(self, columns: FloatArray) -> FloatArray:
        """The documents, and an average one with one rare token more and a label of its own; (N + 1, columns).

        A reference that holds no unknown token, or not each label, would say that there are none, and the first one
        would be an alarm.
        """
        average = columns.mean(axis=0)
        if self.classes:
            average[-len(self.classes) - 1 :] = 0.0
            average[-1] = 1.0
        for place, name in enumerate(self.names):
            if name in _RARE:
                average[5 * place] += 1.0
        return np.vstack([columns, average])

    def values(self, totals: FloatArray) -> list[float | None]:
        """Each measure of one sample, as a person reads it: the length in tokens, no label mix.

        Args:
            totals: float64 (1, columns). Summed columns.
        """
        found: list[float | None] = []
        for place, name in enumerate(self.names):
            ratio = None if name == "label_mix" else float(totals[0, 5 * place] / totals[0, 5 * place + 1])
            found.append(2.0**ratio if name == "length" and ratio is not None else ratio)
        return found

    def apart(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far apart two samples are in each measure, as distance and as the statistic that draws are ranked by.

        Args:
            first: float64 (rows, columns). Summed columns of one sample a row.
            second: The same of the other sample.

        Returns:
            Two float64 (rows, measures).
        """
        distances, statistics = [], []
        for place, name in enumerate(self.names):
            if name == "label_mix":
                mixes = [totals[:, -len(self.classes) - 1 :] for totals in (first, second)]
                shares = [mix / mix.sum(axis=1, keepdims=True) for mix in mixes]
                # As a root of a sum of squares of differences; 1 - sum sqrt(p q) would round to below 0.
                gaps = np.sqrt(shares[0]) - np.sqrt(shares[1])  # (rows, C)
                distance = statistic = np.sqrt((gaps * gaps).sum(axis=1) / 2.0)
            else:
                one, other = (totals[:, 5 * place : 5 * place + 5].T for totals in (first, second))
                distance, statistic = (_rise if name in _RARE else _gap)(one, other)
            distances.append(distance)
            statistics.append(statistic)
        return np.stack(distances, axis=1), np.stack(statistics, axis=1)

    def thresholds(self, first: FloatArray, second: FloatArray, limits: FloatArray) -> list[float]:
        """The distance at which the statistic of two samples would be at its limit.

        Args:
            first: float64 (1, columns). Summed columns of the reference.
            second: The same of the new sample.
            limits: float64 (measures,). Of the statistics.
        """
        found = []
        for place, (name, limit) in enumerate(zip(self.names, limits, strict=True)):
            if name == "label_mix":
                found.append(float(limit))
                continue
            one, other = (totals[0, 5 * place : 5 * place + 5] for totals in (first, second))
            if name in _RARE:
                share = (_root(one) + limit) ** 2 - _ROOT_SHIFT / other[1]
                found.append(max(0.0, float(share - one[0] / one[1])))
            else:
                found.append(float(limit * _error(one, other)))
        return found


def _gap(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The distance of two ratios, and the same in standard errors; sums are (5, rows)."""
    distance = np.abs(second[0] / second[1] - first[0] / first[1])
    return distance, distance / _error(first, second)


def _rise(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By how much a share has risen, and the same of its root; sums are (5, rows)."""
    distance = np.maximum(0.0, second[0] / second[1] - first[0] / first[1])
    return distance, np.maximum(0.0, _root(second) - _root(first))


def _root(sums: FloatArray) -> FloatArray:
    root: FloatArray = np.sqrt((sums[0] + _ROOT_SHIFT) / sums[1])
    return root


def _error(first: FloatArray, second: FloatArray) -> FloatArray:
    """Standard error of the difference of two ratios r = sum x / sum y: each has sum (x - r y)^2 / (sum y)^2."""
    variance = np.zeros_like(first[0])
    for x, y, xx, xy, yy in (first, second):
        ratio = x / y
        variance = variance + np.maximum(0.0, xx - 2.0 * ratio * xy + ratio * ratio * yy) / (y * y)
    error: FloatArray = np.maximum(_LEAST_ERROR, np.sqrt(variance))
    return error
