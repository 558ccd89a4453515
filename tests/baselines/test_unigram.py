import math

import numpy as np
import pytest

from elman.baselines.unigram import unigram_log_probabilities
from elman.errors import MetricError


def test_each_target_gets_its_count_and_one_and_the_sum_is_one() -> None:
    counts = np.array([0, 1, 0, 4, 2, 0])  # N = 7; targets are unk, eos and two pieces: V = 4
    logs = unigram_log_probabilities(counts)
    assert np.exp(logs) == pytest.approx(np.array([0, 2, 0, 5, 3, 1]) / 11)
    assert np.exp(logs).sum() == pytest.approx(1.0)


def test_an_unseen_token_is_improbable_and_not_impossible() -> None:
    assert unigram_log_probabilities(np.array([0, 0, 0, 5, 5]))[1] == pytest.approx(math.log(1 / 13))


@pytest.mark.parametrize("token", [0, 2])
def test_padding_in_the_counts_is_refused(token: int) -> None:
    counts = np.array([0, 1, 0, 4, 2])
    counts[token] = 1
    with pytest.raises(MetricError, match=rf"ids \[{token}\]"):
        unigram_log_probabilities(counts)


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(MetricError, match="0 tokens"):
        unigram_log_probabilities(np.zeros(8, np.int64))
