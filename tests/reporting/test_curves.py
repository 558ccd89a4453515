import math
from pathlib import Path

import numpy as np
import pytest

from elman.errors import ArtifactError
from elman.reporting.curves import draw_curves, loss_limits, read_history


def test_curves_are_read_by_seed_and_a_gap_stays_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    path.write_text("seed,epoch,train_loss,valid_loss,other\n1,1,2.5,,x\n1,2,1.5,1.75,x\n2,1,2.25,2.5,x\n")
    history = read_history(path)
    assert list(history) == [1, 2]
    epochs, train, valid = history[1]
    assert epochs.tolist() == [1, 2]
    assert train.tolist() == [2.5, 1.5]
    assert math.isnan(valid[0])
    assert valid[1] == 1.75


@pytest.mark.parametrize("text", ["", "seed,epoch,train_loss\n1,1,2.0\n", "seed,epoch,train_loss,valid_loss\n"])
def test_a_history_that_was_half_written_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "history.csv").write_text(text)
    with pytest.raises(ArtifactError, match=r"history\.csv: .*valid_loss.*dvc repro"):
        read_history(tmp_path / "history.csv")


def test_a_missing_history_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"history\.csv: no such file; run `dvc repro`"):
        read_history(tmp_path / "history.csv")


def test_every_seed_has_both_lines_and_the_legend_names_each_once(reports: Path) -> None:
    history = read_history(reports / "classifier" / "cells" / "gru" / "history.csv")
    (axes,) = draw_curves("gru", history, limits=(0.0, 2.0)).axes
    assert len(axes.lines) == 6
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["train", "validation"]
    assert axes.get_ylim() == (0.0, 2.0)


def test_cells_share_one_axis_that_holds_them_all() -> None:
    epochs = np.array([1, 2])
    one = {1: (epochs, np.array([3.0, 1.0]), np.array([2.0, math.nan]))}
    two = {1: (epochs, np.array([5.0, math.inf]), np.array([4.0, 4.5]))}
    assert loss_limits([one, two]) == pytest.approx((0.8, 5.2))
    assert loss_limits([{1: (epochs, np.full(2, math.nan), np.full(2, math.nan))}]) is None
    assert loss_limits([]) is None
