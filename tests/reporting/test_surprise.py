from pathlib import Path

import pytest

from elman.artifacts import read_json, write_json
from elman.errors import ArtifactError
from elman.reporting.surprise import draw_surprise, read_surprise

CELLS = ("lstm", "gru")


@pytest.fixture
def surprise(reports: Path):
    return {cell: read_surprise(reports / "language_model" / "cells" / cell / "surprise.json") for cell in CELLS}


def test_each_cell_and_kneser_ney_have_a_line_over_the_bands(surprise) -> None:
    (axes,) = draw_surprise(surprise, "by_position").axes
    lines = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    bands = {cell: own["by_position"] for cell, own in surprise.items()}
    assert lines == {
        "LSTM": [band["nats_per_token"] for band in bands["lstm"]],
        "GRU": [band["nats_per_token"] for band in bands["gru"]],
        "Kneser-Ney": [band["kneser_ney"]["nats_per_token"] for band in bands["lstm"]],
    }
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert labels == ["1\n1%", "2\n1%", "4\n2%", "8\n4%", "16\n7%", "300\n85%"]


def test_a_band_without_tokens_is_left_out_and_the_last_one_is_open(surprise) -> None:
    (axes,) = draw_surprise(surprise, "by_train_count").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0\n<1%", "5\n7%", "more\n93%"]
    assert [len(line.get_ydata()) for line in axes.lines] == [3, 3, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 1 is read here"),
        ({"documents": None, "by_position": 3}, "lacks by_position, documents"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_by_name(reports: Path, change: dict, message: str) -> None:
    path = reports / "language_model" / "cells" / "gru" / "surprise.json"
    write_json(path, {**read_json(path), **change})
    with pytest.raises(ArtifactError, match=rf"surprise\.json: {message}.*dvc repro"):
        read_surprise(path)
