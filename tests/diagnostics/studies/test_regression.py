import pytest

from elman.diagnostics.studies.recorder import Unrecorded
from elman.diagnostics.studies.regression import RegressionSettings, study_regression
from elman.errors import ConfigError


def study(task: str, settings: RegressionSettings, **options):
    told = []
    found = study_regression(task, settings, recorder=Unrecorded(), report=told.append, **options)
    return found, told


def test_a_gru_learns_to_add_over_ten_steps():
    settings = RegressionSettings(length=10, steps=250, checks=5)
    found, told = study("adding", settings, cells=["gru"], seeds=[1])
    (row,) = found["rows"]
    assert row["measures"]["mse"]["mean"] < 0.01 < found["baseline"]["measures"]["mse"]
    assert found["baseline"]["measures"]["mse"] == pytest.approx(2 / 12, abs=0.01)
    assert [step for step, _ in row["seeds"][0]["curve"]] == [50, 100, 150, 200, 250]
    assert row["seeds"][0]["solved_at"] in (100, 150, 200, 250)
    assert len(told) == 1


def test_a_seed_names_the_result():
    settings = RegressionSettings(length=6, steps=4, checks=2)
    first, again, other = (
        study("reset", settings, cells=["lstm"], seeds=[seed])[0]["rows"][0]["measures"]["mse"]["mean"]
        for seed in (1, 1, 2)
    )
    assert first == pytest.approx(again, rel=1e-5)
    assert abs(first - other) > 1e-4


def test_the_baseline_of_reset_is_the_variance_of_its_sums():
    found, _ = study("reset", RegressionSettings(length=2, steps=1, checks=1), cells=["gru"], seeds=[1])
    # Uniform on [-1, 1) has a variance of 1/3; the second step adds a value unless it resets.
    assert found["baseline"]["measures"]["mse"] == pytest.approx((1 / 3 + 1 / 3 + 0.95 / 3) / 2, abs=0.02)


def test_weights_of_a_gate_that_is_held_open_are_not_counted():
    settings = RegressionSettings(length=4, steps=1, checks=1, units=8)
    found, _ = study("adding", settings, cells=["lstm", "lstm_1997"], seeds=[1])
    plain, held = (row["parameters"] for row in found["rows"])
    assert plain == 4 * 8 * (2 + 8 + 1) + 9
    assert plain - held == 8 * (2 + 8 + 1)


def test_fewer_steps_than_checks_are_refused():
    with pytest.raises(ConfigError, match="steps at least 20"):
        study("adding", RegressionSettings(steps=5), cells=["gru"], seeds=[1])
