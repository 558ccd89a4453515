"""The products over all real steps, at sizes with several runs, several groups of columns and several threads."""

from itertools import pairwise

import numpy as np
import pytest

from elman.layers.kernels.array_work import _column_edges
from elman.layers.kernels.buffers import Array, read_only
from elman.layers.kernels.matmul import PANEL, pack_panels, pack_panels_transposed
from elman.layers.kernels.tokens import (
    RUN_LENGTH,
    input_gradient_runs,
    plan_runs,
    project_runs,
    weight_gradient_columns,
)

SIZES = [(700, 200, 200, 800), (431, 64, 33, 99), (150, 7, 64, 16), (290, 1, 650, 650)]  # S, D, U, N
SHARES = [1.0, 0.9, 0.5, 0.0]  # of real steps


def masked(size: tuple[int, ...], mask: Array, seed: int) -> Array:
    """Numbers at real steps; NaN, which must reach nothing, at the others."""
    array = np.random.default_rng(seed).normal(size=size).astype("float32")
    array[~mask] = np.nan
    return read_only(array)


def mask_of(steps: int, share: float) -> Array:
    return read_only(np.random.default_rng(9).random(steps) < share)


@pytest.mark.parametrize("share", SHARES)
def test_runs_hold_every_real_step_once_and_none_is_too_long(share: float) -> None:
    for steps in (1, 2, RUN_LENGTH, RUN_LENGTH + 1, 1000):
        for mask in (mask_of(steps, share), read_only(np.arange(steps) % 2 == 0)):
            seen = np.zeros(steps, int)
            for start, end in plan_runs(mask):
                assert 0 < end - start <= RUN_LENGTH
                seen[start:end] += 1
            np.testing.assert_array_equal(seen, mask)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("share", SHARES)
def test_products_are_those_of_numpy_at_real_steps_and_touch_no_other(size: tuple[int, ...], share: float) -> None:
    steps, inputs, _, columns = size
    mask = mask_of(steps, share)
    x, d_projected = masked((steps, inputs), mask, 0), masked((steps, columns), mask, 1)
    kernel = read_only(np.random.default_rng(2).normal(size=(inputs, columns)).astype("float32"))
    panels = pack_panels(kernel)
    projected, d_x = np.full((steps, len(panels) * PANEL), 7.0, "f"), np.full((steps, inputs), 7.0, "f")
    project_runs(x, panels, plan_runs(mask), projected)
    input_gradient_runs(d_projected, pack_panels_transposed(kernel), plan_runs(mask), d_x)
    np.testing.assert_allclose(projected[mask][:, :columns], x[mask] @ kernel.astype("float64"), atol=1e-3)
    np.testing.assert_allclose(d_x[mask], d_projected[mask] @ kernel.T.astype("float64"), atol=2e-3)
    assert (projected[~mask] == 7.0).all()
    assert (d_x[~mask] == 7.0).all()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("share", SHARES)
def test_weight_gradients_are_whole_and_the_same_bits_for_any_number_of_threads(
    size: tuple[int, ...], share: float
) -> None:
    steps, inputs, units, columns = size
    mask = mask_of(steps, share)
    x, previous_h = masked((steps, inputs), mask, 0), masked((steps, units), mask, 1)
    d_projected, d_inner = masked((steps, columns), mask, 2), masked((steps, columns), mask, 3)
    found = []
    for parts in (1, 2, 7):
        d_kernel, d_matrix = np.full((inputs, columns), np.nan, "f"), np.full((units, columns), np.nan, "f")
        edges = _column_edges(columns, parts)
        for first, last in pairwise(edges):
            runs = plan_runs(mask)
            weight_gradient_columns(
                x, runs, d_projected, previous_h, runs, d_inner, False, first, last, d_kernel, d_matrix
            )
        found.append((d_kernel, d_matrix))
    expected = x[mask].T @ d_projected[mask].astype("float64"), previous_h[mask].T @ d_inner[mask].astype("float64")
    for one, other, exact in zip(found[0], found[1], expected, strict=True):
        np.testing.assert_allclose(one, exact, atol=1e-3)
        np.testing.assert_array_equal(one, other)
    for one, other in zip(found[0], found[2], strict=True):
        np.testing.assert_array_equal(one, other)
