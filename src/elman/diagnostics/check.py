"""What a check of the machine found."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]


class Check(NamedTuple):
    """One check.

    Attributes:
        name: What was compared with what.
        passed: Whether it is right.
        difference: The largest difference found; infinite where a value is not finite or the shapes differ.
        tolerance: The largest difference that is right.
        detail: What it was on, or where the largest difference is.
    """

    name: str
    passed: bool
    difference: float
    tolerance: float
    detail: str

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a difference that is not finite is null."""
        return self._asdict() | {"difference": self.difference if np.isfinite(self.difference) else None}


def compare(name: str, found: Arrays, expected: Arrays, *, tolerance: float, detail: str) -> Check:
    """Compare arrays by name. A difference counts relative to the largest expected value where that is above 1.

    Args:
        name: Of the check.
        found: What is to be checked.
        expected: The same names and shapes.
        tolerance: The largest difference that is right.
        detail: What the arrays were computed on.
    """
    differences = {key: _difference(found[key], expected[key]) for key in expected}
    worst = max(differences, key=lambda key: differences[key])
    largest = differences[worst]
    return Check(name, largest <= tolerance, largest, tolerance, f"{detail}; most in {worst}")


def _difference(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    if found.shape != expected.shape or not (np.isfinite(found).all() and np.isfinite(expected).all()):
        return float("inf")
    gap = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    return float(gap.max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))
