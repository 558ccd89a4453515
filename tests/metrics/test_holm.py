import math

import numpy as np
import pytest

from elman.errors import MetricError
from elman.metrics.holm import holm


def test_the_smallest_is_multiplied_by_all_and_none_falls_below_a_smaller_one() -> None:
    # Sorted: 0.005 * 4, 0.01 * 3, 0.03 * 2, then 0.04 * 1, lifted to 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_one_value_stays_and_none_exceeds_1() -> None:
    assert holm([0.3]) == [0.3]
    assert holm([0.9, 0.8, 1.0]) == [1.0, 1.0, 1.0]
    assert holm([]) == []


def test_any_false_find_among_ten_comes_in_a_twentieth_of_families() -> None:
    families = np.random.default_rng(2).random((2000, 10))
    assert 0.03 <= np.mean([min(holm(row.tolist())) < 0.05 for row in families]) <= 0.07


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(MetricError, match="between 0 and 1"):
        holm([0.5, wrong])
