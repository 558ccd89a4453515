import pytest

from elman.artifacts import write_json
from elman.retraining.seed_spread import seed_spread


@pytest.mark.parametrize(
    ("task", "measure", "values", "expected"),
    [
        ("classifier", "accuracy", [0.90, 0.94, 0.92], 0.02),
        ("language_model", "bits_per_byte", [1.5, None, 1.7], 2**-0.5 * 0.2),
        ("classifier", "accuracy", [0.9], None),
    ],
)
def test_the_spread_is_the_standard_deviation_over_two_seeds_or_more(tmp_path, task, measure, values, expected):
    measures = {measure: {"per_seed": values}, "other": {"per_seed": [0.0, 9.0, 5.0]}}
    write_json(tmp_path / task / "cells" / "gru" / "metrics.json", {"measures": measures})
    found = seed_spread(tmp_path, task=task, cell="gru")
    assert found == (None if expected is None else pytest.approx(expected))


def test_without_a_report_there_is_none(tmp_path):
    assert seed_spread(tmp_path, task="classifier", cell="gru") is None
