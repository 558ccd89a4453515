import numpy as np
import pytest
from scipy import stats

from elman.errors import MetricError
from elman.metrics import sign_flip as module
from elman.metrics.mcnemar import mcnemar
from elman.metrics.sign_flip import sign_flip


def test_all_patterns_of_three_documents_are_counted() -> None:
    # |s1 * 3 + s2 * 2 + s3 * 1| >= |3 + 2 - 1| = 4: +-(6), +-(4) of the eight patterns.
    assert sign_flip(np.array([3.0, 2.0, -1.0])).tolist() == [0.5]


def test_one_document_and_no_difference_have_p_1() -> None:
    assert sign_flip(np.array([5.0])).tolist() == [1.0]
    assert sign_flip(np.zeros((7, 2))).tolist() == [1.0, 1.0]


def test_exact_and_drawn_patterns_agree_with_scipy() -> None:
    differences = np.random.default_rng(2).normal(0.5, 1.0, size=10)
    theirs = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    exact = sign_flip(differences)[0]
    assert exact == pytest.approx(theirs.pvalue, abs=1e-12)
    assert sign_flip(differences, flips=1000, seed=3)[0] == pytest.approx(exact, abs=0.03)


def test_differences_of_one_size_give_mcnemars_p() -> None:
    first, second = np.random.default_rng(6).random((2, 60)) < np.array([[0.9], [0.75]])
    p_value = sign_flip(first.astype(float) - second.astype(float), flips=40_000)[0]
    assert p_value == pytest.approx(mcnemar(first, second).p_value, abs=0.01)


def test_pairs_beside_each_other_and_small_blocks_change_no_p(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(5).normal(0.1, 1.0, size=(64, 3))
    together = sign_flip(differences, flips=500)
    assert together.tolist() == [sign_flip(column, flips=500)[0] for column in differences.T]
    monkeypatch.setattr(module, "_BLOCK_VALUES", 640)
    assert sign_flip(differences, flips=500).tolist() == together.tolist()


def test_a_twentieth_of_null_pairs_and_most_planted_ones_are_called_different() -> None:
    random = np.random.default_rng(9)
    null = random.standard_t(4, size=(200, 1000))
    found = (sign_flip(null, flips=1000) < 0.05).sum()
    assert 30 <= found <= 70
    assert (sign_flip(null + 0.5, flips=1000) < 0.05).mean() > 0.95


@pytest.mark.parametrize("wrong", [np.empty(0), np.array([1.0, np.nan])])
def test_what_cannot_be_tested_is_refused(wrong: np.ndarray) -> None:
    with pytest.raises(MetricError, match="sign-flip"):
        sign_flip(wrong)
