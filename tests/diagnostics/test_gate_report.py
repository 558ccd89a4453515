import json

import numpy as np
import pytest

from elman.diagnostics.gate_report import gate_report, half_lives
from elman.diagnostics.gate_values import GateValues, gate_values
from elman.layers.lstm import LSTM


def values(**gates: np.ndarray) -> GateValues:
    some = next(iter(gates.values()))
    output = np.random.default_rng(1).uniform(-0.5, 0.5, some.shape)
    return GateValues(dict(gates), "forget" if "forget" in gates else None, output)


def kinds(report: dict) -> list[str]:
    return [flag.split(":")[0] for flag in report["flags"]]


def test_a_half_life_is_the_number_of_tokens_until_half_is_left():
    gates = np.full((8, 1), 0.9)
    life = half_lives(gates)[0]
    assert 0.9**life == pytest.approx(0.5)
    assert life == pytest.approx(np.log(0.5) / np.log(0.9))


def test_a_half_life_follows_the_product_of_changing_gates():
    gates = np.array([[0.2], [1.0], [0.8], [0.5]])
    assert np.prod(gates) ** (half_lives(gates)[0] / 4) == pytest.approx(0.5)


def test_an_lstm_whose_forget_gates_are_shut_is_flagged_as_vanishing():
    layer = LSTM(8, forget_bias=-4.0)
    layer.build((None, None, 3))
    report = gate_report(gate_values(layer, np.random.default_rng(2).standard_normal((30, 3))))
    assert report["half_life"]["median"] < 1.0
    assert "vanishing" in kinds(report)


def test_an_lstm_as_it_starts_has_no_flag():
    layer = LSTM(8)
    layer.build((None, None, 3))
    report = gate_report(gate_values(layer, np.random.default_rng(2).standard_normal((30, 3))))
    assert 1.0 < report["half_life"]["median"] < 4.0
    assert report["flags"] == []


def test_a_gate_that_is_shut_or_open_nearly_always_is_flagged_as_saturated():
    gate = np.where(np.random.default_rng(3).random((40, 10)) < 0.5, 0.02, 0.98)
    gate[:20, 0] = 0.5
    report = gate_report(values(input=gate))
    assert kinds(report) == ["saturated"]
    assert report["gates"]["input"]["shut"] + report["gates"]["input"]["open"] == pytest.approx(0.95)


def test_a_gate_that_is_in_between_for_some_units_is_not_flagged():
    gate = np.where(np.random.default_rng(3).random((40, 10)) < 0.5, 0.02, 0.98)
    gate[:, :2] = 0.5
    assert gate_report(values(input=gate))["flags"] == []


def test_a_unit_that_never_moves_is_dead():
    one = values(forget=np.full((12, 4), 0.7))
    one.output[:, 2] = 0.31
    report = gate_report(one)
    assert report["dead_units"] == [2]
    assert kinds(report) == ["dead"]


def test_a_cell_that_never_forgets_has_a_half_life_without_end_in_strict_json():
    report = gate_report(values(forget=np.ones((6, 3))))
    assert report["half_life"]["median"] is None
    assert report["half_life"]["below_one_token"] == 0.0
    json.dumps(report, allow_nan=False)
