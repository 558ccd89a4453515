import math

import pytest

from elman.errors import MetricError
from elman.metrics.perplexity import perplexity_block


def block(nll_nats: float, **changes: int) -> dict:
    counts = {"num_tokens": 10, "num_words": 5, "num_bytes": 40, "num_documents": 2, "num_unk": 1} | changes
    return perplexity_block(nll_nats=nll_nats, **counts)


def test_a_uniform_model_has_the_perplexity_of_its_vocabulary():
    assert block(10 * math.log(50))["perplexity"] == pytest.approx(50.0, rel=1e-12)


def test_all_measures_come_from_one_sum():
    result = block(12.0)
    assert result["nll_nats_per_token"] == pytest.approx(1.2)
    assert result["perplexity_per_word"] == pytest.approx(math.exp(2.4))
    assert result["bits_per_byte"] == pytest.approx(12.0 / math.log(2) / 40)
    assert result["unk_fraction"] == pytest.approx(0.1)


def test_an_overflowing_perplexity_is_null_and_flagged_while_the_nll_stands():
    result = block(1e5)  # 10 targets at 1e4 nats each
    assert result["nll_nats_per_token"] == pytest.approx(1e4)
    assert result["perplexity"] is None
    assert result["perplexity_overflow"] is True


def test_zero_tokens_are_an_error_and_not_a_perfect_score():
    with pytest.raises(MetricError, match="num_tokens"):
        block(0.0, num_tokens=0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_sum_that_is_not_finite_is_an_error(bad):
    with pytest.raises(MetricError, match="not finite"):
        block(bad)
