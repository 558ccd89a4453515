from collections import Counter

import numpy as np
import pytest

from elman.baselines.ngram_counts import NgramCounts, count_ngrams
from elman.errors import MetricError

IDS = np.array([4, 5, 4, 5, 3, 5, 4, 3], np.int32)  # two documents: 4 5 4 5 eos, and 5 4 eos
LENGTHS = np.array([5, 3])


def _spelled(counts: NgramCounts, n: int, number: int) -> tuple[int, ...]:
    """The tokens of an n-gram, by going from its key to that of its history."""
    if n == 1:
        return (int(counts.levels[0].keys[number]),)
    history, token = divmod(int(counts.levels[n - 1].keys[number]), counts.vocab_size)
    return (*_spelled(counts, n - 1, history), token)


def _table(counts: NgramCounts, n: int) -> dict[tuple[int, ...], tuple[int, int]]:
    level = counts.levels[n - 1]
    pairs = zip(level.counts.tolist(), level.continuations.tolist(), strict=True)
    return {_spelled(counts, n, number): pair for number, pair in enumerate(pairs)}


def test_counts_and_continuations_are_those_worked_by_hand() -> None:
    counts = count_ngrams(IDS, LENGTHS, order=3, vocab_size=6)
    assert _table(counts, 1) == {(2,): (2, 2), (3,): (2, 2), (4,): (3, 2), (5,): (3, 2)}
    assert _table(counts, 2) == {
        (2, 4): (1, 1),  # begins with bos: its count
        (2, 5): (1, 1),
        (4, 3): (1, 1),  # after 5
        (4, 5): (2, 2),  # after bos and after 5
        (5, 3): (1, 1),
        (5, 4): (2, 2),
    }
    assert {ngram: count for ngram, (count, _) in _table(counts, 3).items()} == {
        (2, 4, 5): 1,
        (2, 5, 4): 1,
        (4, 5, 3): 1,
        (4, 5, 4): 1,
        (5, 4, 3): 1,
        (5, 4, 5): 1,
    }


def test_every_ngram_of_a_random_text_is_counted_as_a_table_of_tuples_counts_it() -> None:
    random = np.random.default_rng(4)
    lengths = random.integers(1, 9, 60)
    ids = random.integers(4, 8, lengths.sum())
    ends = np.cumsum(lengths)
    ids[ends - 1] = 3
    counts = count_ngrams(ids, lengths, order=4, vocab_size=8)
    documents = [(2, *part.tolist()) for part in np.split(ids, ends[:-1])]
    for n in (2, 3, 4):
        slow = Counter(text[i : i + n] for text in documents for i in range(len(text) - n + 1))
        assert {ngram: count for ngram, (count, _) in _table(counts, n).items()} == dict(slow)


def test_no_ngram_goes_over_the_end_of_a_document() -> None:
    counts = count_ngrams(np.array([3, 4, 3]), np.array([1, 2]), order=4, vocab_size=5)
    assert list(_table(counts, 3)) == [(2, 4, 3)]
    assert len(counts.levels[3].keys) == 0


@pytest.mark.parametrize(
    ("ids", "lengths", "message"),
    [
        ([], [], "at least one document"),
        ([4, 3], [1], "add up to the ids"),
        ([4, 3], [2, 0], "at least its eos"),
        ([6, 3], [2], "found 3 to 6"),
        ([-1, 3], [2], "found -1 to 3"),
        ([2, 4, 3], [3], r"2 \(bos\)"),
        ([4, 0, 3], [3], r"0 \(pad\)"),
        ([4, 5], [2], "one eos"),
        ([4, 3, 5, 3], [4], "one eos"),
    ],
)
def test_what_is_no_encoded_document_is_refused(ids: list[int], lengths: list[int], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        count_ngrams(np.array(ids, np.int32), np.array(lengths, np.int64), order=2, vocab_size=6)


@pytest.mark.parametrize("order", [0, 9])
def test_an_order_out_of_range_is_refused(order: int) -> None:
    with pytest.raises(MetricError, match=f"1 to 8; {order} came"):
        count_ngrams(IDS, LENGTHS, order=order, vocab_size=6)
