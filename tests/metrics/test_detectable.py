import math

import numpy as np
import pytest

from elman.errors import MetricError
from elman.metrics.detectable import smallest_detectable
from elman.metrics.sign_flip import sign_flip


def test_it_is_2_80_standard_errors_at_5_percent_and_80_percent() -> None:
    assert smallest_detectable(1.0) == pytest.approx(1.959964 + 0.841621, abs=1e-6)


def test_more_comparisons_need_larger_differences() -> None:
    assert smallest_detectable(1.0, alpha=0.05 / 15) > smallest_detectable(1.0)
    assert smallest_detectable(0.0) == 0.0


def test_a_difference_of_that_size_is_found_four_times_in_five() -> None:
    random = np.random.default_rng(3)
    planted = smallest_detectable(1.0 / math.sqrt(200))
    differences = random.normal(planted, 1.0, size=(200, 1000))
    assert 0.75 <= (sign_flip(differences, flips=1000) < 0.05).mean() <= 0.85


@pytest.mark.parametrize("wrong", [-1.0, math.nan])
def test_what_is_no_standard_error_is_refused(wrong: float) -> None:
    with pytest.raises(MetricError, match="standard error"):
        smallest_detectable(wrong)
