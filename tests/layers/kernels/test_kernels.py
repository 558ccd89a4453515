"""The parts that the kernels are made of."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import vectorize

from elman.layers.kernels.activations import sigmoid, tanh
from elman.layers.kernels.buffers import empty, read_only
from elman.layers.kernels.matmul import PANEL, multiply_rows, pack_panels, pack_panels_transposed
from elman.layers.kernels.schedule import plan_steps
from elman.layers.kernels.threads import run_parts, share


@pytest.mark.parametrize(("function", "name"), [(tanh, "tanh"), (sigmoid, "sigmoid")])
def test_activation_is_right_to_float32(function: object, name: str) -> None:
    x = np.concatenate([np.linspace(-20, 20, 200_001), [0.0, np.inf, -np.inf]]).astype("float32")
    exact = {"tanh": np.tanh, "sigmoid": lambda v: 0.5 + 0.5 * np.tanh(0.5 * v)}[name](x.astype("float64"))
    values = vectorize(["float32(float32)"])(function.py_func)(x)  # type: ignore[attr-defined]
    assert np.abs(values - exact).max() < 4e-7
    assert np.abs(values).max() <= 1.0
    assert np.isnan(function(np.float32("nan")))  # type: ignore[operator]


@pytest.mark.parametrize("num_rows", range(1, 21))
def test_product_is_right_for_every_number_of_rows(num_rows: int) -> None:
    rng = np.random.default_rng(num_rows)
    for depth, columns in ((5, 7), (33, 80), (16, 100)):
        a = rng.normal(size=(num_rows + 1, depth)).astype("float32")
        matrix = rng.normal(size=(depth, columns)).astype("float32")
        for panels in (pack_panels(matrix), pack_panels_transposed(np.ascontiguousarray(matrix.T))):
            out = np.full((num_rows + 1, panels.shape[0] * PANEL), 7.0, "float32")
            multiply_rows(a, 0, num_rows, panels, out, False)
            np.testing.assert_allclose(out[:num_rows, :columns], a[:num_rows] @ matrix, atol=1e-4)
            np.testing.assert_array_equal(out[:num_rows, columns:], 0.0)
            np.testing.assert_array_equal(out[num_rows], 7.0)


def test_row_of_a_product_does_not_depend_on_the_other_rows() -> None:
    rng = np.random.default_rng(0)
    a, matrix = rng.normal(size=(23, 50)).astype("float32"), rng.normal(size=(50, 64)).astype("float32")
    panels, alone = pack_panels(matrix), np.empty((1, 64), "float32")
    for num_rows in range(1, 24):
        out = np.empty((num_rows, 64), "float32")
        multiply_rows(a, 0, num_rows, panels, out, False)
        multiply_rows(a[num_rows - 1 : num_rows].copy(), 0, 1, panels, alone, False)
        np.testing.assert_array_equal(out[-1], alone[0])


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    st.booleans(),
)
def test_schedule_holds_every_real_step_once_and_in_order(rows: list[list[bool]], backwards: bool) -> None:
    mask = np.array(rows)
    order, counts, positions = plan_steps(read_only(mask), backwards)
    assert sorted(order) == list(range(len(mask)))
    assert list(counts[order]) == sorted(mask.sum(axis=1), reverse=True)
    in_reading_order = mask[:, ::-1] if backwards else mask
    for row, real in enumerate(in_reading_order):
        np.testing.assert_array_equal(positions[row, : counts[row]], np.flatnonzero(real))


@given(st.integers(0, 40), st.integers(0, 10**9), st.integers(1, 8))
def test_every_row_is_dealt_to_one_thread(batch: int, work: int, threads: int) -> None:
    parts = share(np.arange(batch)[::-1].copy(), work, threads=threads, least=4)
    assert len(parts) <= threads
    assert all(len(part) for part in parts)
    assert sorted(row for part in parts for row in part) == list(range(batch))


def test_failure_in_a_thread_reaches_the_caller() -> None:
    def work(part: int) -> None:
        if part == 1:
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        run_parts(work, 2)


def test_arrays_start_where_tensorflow_takes_them_over() -> None:
    for shape in ((3,), (5, 7), (2, 0, 4), (64, 33, 5)):
        array = empty(*shape)
        assert array.shape == shape
        assert array.ctypes.data % 64 == 0 or array.size == 0


def test_second_process_does_not_compile_again() -> None:
    program = (
        "import time, numpy as np\n"
        "from elman.layers.kernels.matmul import pack_panels, multiply_rows\n"
        "start = time.perf_counter()\n"
        "panels = pack_panels(np.ones((8, 16), 'float32'))\n"
        "multiply_rows(np.ones((3, 8), 'float32'), 0, 3, panels, np.empty((3, 16), 'float32'), False)\n"
        "hits = sum(multiply_rows.stats.cache_hits.values()), sum(multiply_rows.stats.cache_misses.values())\n"
        "print(*hits)\n"
    )
    source = Path(__file__).parents[3] / "src"
    for _ in range(2):
        result = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(source)}
        )
    assert result.stdout.split() == ["1", "0"]
