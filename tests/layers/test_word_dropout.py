"""Dropout of word types."""

from typing import Any

import numpy as np
import pytest

from elman.layers.word_dropout import WordDropout

PAD, UNK, FIRST, V = 0, 1, 4, 50


def ids(rows: int = 40, steps: int = 120) -> np.ndarray:
    return np.random.default_rng(0).integers(0, V, (rows, steps)).astype("int32")


def test_a_type_is_dropped_at_all_its_places_in_a_document_or_at_none() -> None:
    before = ids()
    after = np.asarray(WordDropout(rate=0.3, vocab_size=V, seed=1)(before, training=True))
    assert (after != before).any()
    assert set(after[after != before]) == {UNK}
    for old, new in zip(before, after, strict=True):
        for kind in set(old[old >= FIRST]):
            assert len(set(new[old == kind])) == 1


def test_the_share_of_dropped_types_is_the_rate() -> None:
    before = np.arange(FIRST, V, dtype="int32")[None].repeat(400, axis=0)
    after = np.asarray(WordDropout(rate=0.3, vocab_size=V, seed=2)(before, training=True))
    assert (after == UNK).mean() == pytest.approx(0.3, abs=0.02)
    assert len({row.tobytes() for row in after}) == 400, "each document loses types of its own"


def test_special_ids_are_never_replaced() -> None:
    before = ids()
    after = np.asarray(WordDropout(rate=0.9, vocab_size=V, seed=3)(before, training=True))
    np.testing.assert_array_equal(after[before < FIRST], before[before < FIRST])


def test_a_seed_names_what_is_dropped_and_each_call_drops_anew() -> None:
    first, second = (WordDropout(rate=0.5, vocab_size=V, seed=4) for _ in range(2))
    calls = [np.asarray(layer(ids(), training=True)) for layer in (first, second, first)]
    np.testing.assert_array_equal(calls[0], calls[1])
    assert (calls[0] != calls[2]).any()


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_a_rate_that_is_no_share_is_refused(rate: Any) -> None:
    with pytest.raises(ValueError, match=r"rate must be in \[0, 1\)"):
        WordDropout(rate=rate, vocab_size=V)
