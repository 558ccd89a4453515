"""calibration.json: what the probabilities of a classifier's seeds are worth, as they are and with a temperature."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.metrics.calibration import BINS, expected_calibration_error, fit_temperature, reliability, scaled
from elman.metrics.intervals import mean_and_interval
from elman.models.scoring import ClassifierScores


def calibration(valid: Sequence[ClassifierScores], test: Sequence[ClassifierScores]) -> dict[str, Any]:
    """Calibration on test; each seed's temperature is found on validation.

    Args:
        valid: Scores on validation, one a seed.
        test: Scores on test, in the same order.

    Returns:
        For "as_trained" and "scaled" (with the temperature): the error and the mean negative log-likelihood with their
        t intervals over seeds, and the documents of all seeds by confidence; and the temperatures.
    """
    temperatures = [fit_temperature(scores.log_probabilities, scores.labels) for scores in valid]
    warmed = [scaled(one.log_probabilities, t) for one, t in zip(test, temperatures, strict=True)]
    plain = [np.asarray(one.log_probabilities, np.float64) for one in test]
    return {
        "version": 1,
        "bins": BINS,
        "temperature": _over_seeds(temperatures),
        "as_trained": _described(plain, test),
        "scaled": _described(warmed, test),
    }


def _described(logs: Sequence[npt.NDArray[np.float64]], test: Sequence[ClassifierScores]) -> dict[str, Any]:
    confidences = [np.exp(one.max(axis=1)) for one in logs]
    rights = [scores.predicted == scores.labels for scores in test]
    nll = [
        -float(one[np.arange(len(scores.labels)), scores.labels].mean()) for one, scores in zip(logs, test, strict=True)
    ]
    errors = [
        expected_calibration_error(reliability(sure, right)) for sure, right in zip(confidences, rights, strict=True)
    ]
    pooled = reliability(np.concatenate(confidences), np.concatenate(rights))
    return {
        "expected_calibration_error": _over_seeds(errors),
        "nll_nats_per_document": _over_seeds(nll),
        "reliability": {name: values.tolist() for name, values in pooled._asdict().items()},
    }


def _over_seeds(values: Sequence[float]) -> Mapping[str, Any]:
    return {**mean_and_interval(values)._asdict(), "per_seed": list(values)}
