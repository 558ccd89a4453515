"""What counts as a difference."""

import numpy as np
import pytest

from elman.diagnostics.check import compare


def check(found: object, expected: object, tolerance: float = 1e-3):
    return compare("name", {"w": np.array(found)}, {"w": np.array(expected)}, tolerance=tolerance, detail="rows")


def test_a_difference_is_relative_where_values_are_large_and_absolute_where_they_are_small() -> None:
    assert check([1000.0, 0.0], [1000.5, 0.0]).difference == pytest.approx(0.5 / 1000.5)
    assert check([0.01], [0.0105]).difference == pytest.approx(0.0005)


def test_the_largest_difference_is_named() -> None:
    found = {"a": np.array([1.0]), "b": np.array([1.0])}
    result = compare("name", found, {"a": np.array([1.0]), "b": np.array([1.2])}, tolerance=0.1, detail="rows")
    assert not result.passed
    assert result.detail == "rows; most in b"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_never_right(bad: float) -> None:
    for found, expected in (([bad], [1.0]), ([1.0], [bad]), ([bad], [bad])):
        result = check(found, expected, tolerance=1e9)
        assert not result.passed
        assert result.to_json()["difference"] is None


def test_the_tolerance_itself_is_right() -> None:
    assert check([0.5], [0.75], tolerance=0.25).passed


def test_arrays_of_different_shapes_are_never_right() -> None:
    assert not check([1.0], [1.0, 1.0], tolerance=1e9).passed
    assert not check([], [1.0], tolerance=1e9).passed
