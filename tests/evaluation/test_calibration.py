import numpy as np
import pytest

from elman.evaluation.calibration import calibration
from elman.models.scoring import ClassifierScores


def scores(random: np.random.Generator, size: int, sharpness: float) -> ClassifierScores:
    """A classifier whose logits are too large by the factor `sharpness`."""
    logits = random.normal(0, 1.5, (size, 3))
    labels = (logits + random.gumbel(size=logits.shape)).argmax(axis=1)  # drawn from softmax(logits)
    logits = logits * sharpness
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return ClassifierScores(np.arange(size), labels.astype(np.int32), logs.astype(np.float32))


def test_an_overconfident_classifier_is_mended_by_a_temperature_from_validation():
    random = np.random.default_rng(11)
    valid, test = ([scores(random, 6000, 3.0) for _ in range(2)] for _ in range(2))
    found = calibration(valid, test)
    assert found["temperature"]["per_seed"] == pytest.approx([3.0, 3.0], rel=0.1)
    before, after = found["as_trained"], found["scaled"]
    assert before["expected_calibration_error"]["mean"] > 0.15 > 0.04 > after["expected_calibration_error"]["mean"]
    assert after["nll_nats_per_document"]["mean"] < before["nll_nats_per_document"]["mean"]
    assert sum(before["reliability"]["documents"]) == sum(after["reliability"]["documents"]) == 12_000


def test_the_temperature_never_sees_test():
    random = np.random.default_rng(12)
    valid = [scores(random, 500, 2.0)]
    one, other = ([scores(random, 500, sharpness)] for sharpness in (0.5, 4.0))
    assert calibration(valid, one)["temperature"] == calibration(valid, other)["temperature"]
