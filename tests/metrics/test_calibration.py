import numpy as np
import pytest

from elman.errors import MetricError
from elman.metrics.calibration import (
    BINS,
    confidence_bins,
    expected_calibration_error,
    fit_temperature,
    reliability,
    scaled,
)


def drawn(size: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities and labels that were drawn from them: calibrated by construction."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 2, (size, classes))
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    labels = (random.random((size, 1)) > np.exp(logs).cumsum(axis=1)).sum(axis=1).clip(max=classes - 1)
    return logs, labels


def error(logs: np.ndarray, labels: np.ndarray) -> float:
    return expected_calibration_error(reliability(np.exp(logs.max(axis=1)), logs.argmax(axis=1) == labels))


def test_the_error_is_the_mean_distance_of_confidence_and_accuracy():
    # two documents at 0.9 of which one is right, one at 0.55 that is right: (2 * |0.5 - 0.9| + |1 - 0.55|) / 3
    found = reliability(np.array([0.9, 0.9, 0.55]), np.array([True, False, True]))
    assert expected_calibration_error(found) == pytest.approx((2 * 0.4 + 0.45) / 3)
    assert found.documents.sum() == 3


def test_a_bin_is_open_below_and_closed_above():
    edges = np.arange(BINS + 1) / BINS
    assert confidence_bins(edges).tolist() == [0, *range(BINS)]


def test_probabilities_that_labels_were_drawn_from_are_calibrated_and_need_no_temperature():
    logs, labels = drawn(40_000, 5, seed=3)
    assert error(logs, labels) < 0.01
    assert fit_temperature(logs, labels) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("factor", [0.4, 2.5])
def test_the_temperature_undoes_what_logits_were_multiplied_by(factor):
    logs, labels = drawn(40_000, 5, seed=4)
    spoiled = scaled(logs, 1.0 / factor)
    temperature = fit_temperature(spoiled, labels)
    assert temperature == pytest.approx(factor, rel=0.03)
    mended = scaled(spoiled, temperature)
    assert error(mended, labels) < 0.02 < error(spoiled, labels)
    np.testing.assert_array_equal(mended.argmax(axis=1), logs.argmax(axis=1))
    np.testing.assert_allclose(np.exp(mended).sum(axis=1), 1.0)


def test_a_split_without_a_mistake_gives_a_finite_temperature():
    logs = np.log(np.array([[0.7, 0.3], [0.2, 0.8]]))
    assert 0.0 < fit_temperature(logs, np.array([0, 1])) < 0.03


def test_what_is_no_probability_is_refused():
    with pytest.raises(MetricError, match="outside 0 to 1"):
        reliability(np.array([1.2]), np.array([True]))
    with pytest.raises(MetricError, match="outside 0 to 1"):
        reliability(np.array([np.nan]), np.array([True]))
    with pytest.raises(MetricError, match="split empty"):
        reliability(np.array([]), np.array([], bool))
    with pytest.raises(MetricError, match="split empty"):
        fit_temperature(np.zeros((0, 2)), np.array([], int))
