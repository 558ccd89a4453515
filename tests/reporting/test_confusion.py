import numpy as np

from elman.reporting.confusion import draw_confusion


def test_shades_are_shares_of_the_true_class_and_counts_are_written() -> None:
    classes = {"labels": ["acq", "earn", "ship"], "confusion": [[6, 2, 0], [1, 3, 0], [0, 0, 0]]}
    (axes,) = draw_confusion("gru", classes).axes
    shares = axes.images[0].get_array()
    assert np.asarray(shares).tolist() == [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 0.0]]
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {(0, 0): "6", (1, 0): "2", (0, 1): "1", (1, 1): "3"}
    assert [text.get_text() for text in axes.get_yticklabels()] == ["acq", "earn", "ship"]


def test_many_classes_are_drawn_without_numbers() -> None:
    classes = {"labels": [f"class {index}" for index in range(52)], "confusion": np.eye(52, dtype=int).tolist()}
    (axes,) = draw_confusion("lstm", classes).axes
    assert len(axes.texts) == 0
    assert len(axes.get_yticklabels()) == 52
