import numpy as np
import pytest

from elman.errors import MetricError
from elman.metrics.surprise import (
    TRAIN_COUNT_BANDS,
    Band,
    most_surprising,
    position_bands,
    surprise_by,
    token_positions,
)


def test_positions_begin_anew_in_each_document_and_their_bands_double() -> None:
    lengths = np.array([5, 1, 9])
    positions = token_positions(lengths)
    assert positions.tolist() == [1, 2, 3, 4, 5, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    nats = np.arange(15) * 1.0
    assert surprise_by(positions, nats, firsts=position_bands(9), open_end=False) == [
        Band(1, 1, 3, 0.0 + 5.0 + 6.0),
        Band(2, 2, 2, 1.0 + 7.0),
        Band(3, 4, 4, 2.0 + 3.0 + 8.0 + 9.0),
        Band(5, 8, 5, 4.0 + 10.0 + 11.0 + 12.0 + 13.0),
        Band(9, 9, 1, 14.0),
    ]


@pytest.mark.parametrize(
    ("longest", "expected"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 3]), (5, [1, 2, 3, 5])]
)
def test_no_band_of_positions_is_empty(longest: int, expected: list[int]) -> None:
    assert position_bands(longest) == expected


def test_each_count_in_train_falls_into_the_band_that_its_ends_name() -> None:
    counts = np.array([0, 1, 2, 5, 6, 20, 21, 100, 101, 1000, 1001, 50_000])
    bands = surprise_by(counts, np.ones(12), firsts=TRAIN_COUNT_BANDS, open_end=True)
    assert [(band.first, band.last, band.num_tokens) for band in bands] == [
        (0, 0, 1), (1, 1, 1), (2, 5, 2), (6, 20, 2), (21, 100, 2), (101, 1000, 2), (1001, None, 2),
    ]  # fmt: skip


def test_bands_add_up_to_the_whole_and_an_empty_one_has_no_mean() -> None:
    random = np.random.default_rng(3)
    lengths = random.integers(1, 200, 50)
    nats = random.gamma(2.0, 2.0, lengths.sum())
    bands = surprise_by(token_positions(lengths), nats, firsts=position_bands(int(lengths.max())), open_end=False)
    assert sum(band.num_tokens for band in bands) == lengths.sum()
    assert sum(band.nll_nats for band in bands) == pytest.approx(nats.sum(), rel=1e-12)
    assert bands[-1].last == lengths.max()
    (empty, full) = surprise_by(np.array([1, 4]), np.array([2.0, 3.0]), firsts=(0, 1), open_end=True)
    assert (empty.nats_per_token, full.nats_per_token) == (None, 2.5)


def test_the_most_surprising_documents_go_by_bits_per_byte_and_short_ones_are_left_out() -> None:
    nats = np.array([90.0, 10.0, 40.0, 20.0, 40.0])
    places = most_surprising(
        nats, num_bytes=np.array([100, 2, 20, 10, 50]), num_tokens=np.array([30, 2, 5, 6, 9]), most=3
    )
    assert places.tolist() == [2, 3, 0]  # 2.0 and 2.0 nats a byte, 0.9; the document with 5.0 has two tokens


def test_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(MetricError, match="2 and 1 came"):
        surprise_by(np.array([1, 2]), np.array([0.5]), firsts=[1], open_end=True)
    with pytest.raises(MetricError, match="begin at 1; the value 0 came"):
        surprise_by(np.array([0, 2]), np.array([0.5, 1.0]), firsts=[1], open_end=True)
