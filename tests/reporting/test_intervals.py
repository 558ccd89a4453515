from typing import Any

import pytest

from elman.reporting.intervals import draw_intervals
from elman.reporting.measures import ACCURACY, PERPLEXITY
from tests.helpers.reports import measure


def _rows(values: dict[str, list[float | None]], key: str = "accuracy") -> list[dict[str, Any]]:
    return [{"name": name, "measures": {key: measure(seeds)}} for name, seeds in values.items()]


def test_every_cell_has_its_interval_mean_and_seeds() -> None:
    figure = draw_intervals(_rows({"lstm": [0.95, 0.96, 0.97], "gru": [0.9, 0.91, 0.92]}), ACCURACY, bar=None)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["LSTM", "GRU"]
    interval, seeds, mean = axes.lines[:3]
    assert interval.get_xdata() == pytest.approx([0.93516, 0.98484], abs=1e-5)
    assert list(seeds.get_xdata()) == [0.95, 0.96, 0.97]
    assert mean.get_xdata() == pytest.approx([0.96])
    low, high = axes.get_xlim()
    assert low < 0.88516
    assert high > 0.98484


def test_a_baseline_nearby_is_a_line_on_the_same_axis() -> None:
    figure = draw_intervals(_rows({"lstm": [0.95, 0.96, 0.97]}), ACCURACY, bar=("majority", 0.93))
    (axes,) = figure.axes
    assert list(axes.lines[0].get_xdata()) == [0.93, 0.93]
    assert axes.get_xlim()[0] < 0.93


@pytest.mark.parametrize(("value", "cells_first"), [(0.4947, False), (4.0, True)])
def test_a_baseline_far_away_breaks_the_axis_and_is_written_on_its_side(value: float, cells_first: bool) -> None:
    figure = draw_intervals(_rows({"lstm": [0.95, 0.96, 0.97]}), ACCURACY, bar=("majority", value))
    cells, alone = figure.axes if cells_first else figure.axes[::-1]
    assert [text.get_text() for text in cells.get_yticklabels()] == ["LSTM"]
    assert [text.get_text() for text in alone.get_xticklabels()] == [f"{value:.3f}"]
    assert cells.get_xlim()[0] > 0.9


def test_a_cell_without_a_value_says_so() -> None:
    rows = _rows({"lstm": [110.0, 111.0], "gru": [None, 1.0]}, "perplexity")
    figure = draw_intervals(rows, PERPLEXITY, bar=None)
    assert "no finite value" in [text.get_text() for text in figure.axes[0].texts]


def test_one_seed_and_nothing_at_all_can_be_drawn() -> None:
    assert len(draw_intervals(_rows({"lstm": [0.95]}), ACCURACY, bar=None).axes) == 1
    assert len(draw_intervals(_rows({"lstm": [None]}), ACCURACY, bar=None).axes) == 1
