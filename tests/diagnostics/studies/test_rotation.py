import numpy as np
import pytest

from elman.diagnostics.studies.rotation import rotation_sizes


@pytest.mark.parametrize(
    ("gain", "sizes"),
    [
        (0.5, [0.4266, 0.0083, 0.0001, 0.0]),
        (0.9, [0.7679, 0.0989, 0.0152, 0.0004]),
        (1.5, [1.2798, 0.8562, 1.218, 1.154]),
        (2.0, [1.7064, 2.2703, 2.4696, 1.3574]),
    ],
)
def test_the_jacobian_of_two_rotating_units_has_the_worked_sizes(gain, sizes):
    assert [round(size, 4) for size in rotation_sizes(gain)] == sizes


def test_without_input_the_state_stays_at_zero_and_the_size_is_the_power_of_the_gain():
    np.testing.assert_allclose(rotation_sizes(0.9, steps=(1, 7), drive=(0.0, 0.0)), [0.9, 0.9**7], rtol=1e-12)
