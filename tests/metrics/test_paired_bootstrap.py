import numpy as np
import pytest
from scipy import sparse

from elman.errors import MetricError
from elman.metrics import paired_bootstrap as module
from elman.metrics.paired_bootstrap import Bootstrapped, bootstrapped, resampled_totals


def paired_bootstrap(
    first: np.ndarray, second: np.ndarray, counts: np.ndarray, *, resamples: int = 2000, seed: int = 1
) -> Bootstrapped:
    """The difference of two ratios over the same counts, the way `elman compare` takes it."""
    columns = np.stack([first, second, counts], axis=1)
    totals = resampled_totals(columns, resamples=resamples, seed=seed)
    value, resampled = ((sums[..., 0] - sums[..., 1]) / sums[..., 2] for sums in (columns.sum(axis=0), totals))
    return bootstrapped(float(value), resampled, documents=len(first))


def test_identical_systems_differ_by_nothing_with_p_1() -> None:
    scores = np.random.default_rng(3).gamma(2.0, size=40)
    assert paired_bootstrap(scores, scores, np.ones(40)) == (0.0, 0.0, 0.0, 0.0, 1.0)


def test_one_document_has_a_difference_and_no_interval() -> None:
    assert paired_bootstrap(np.array([3.0]), np.array([2.0]), np.array([4.0])) == (0.25, None, None, None, 1.0)


def test_a_ratio_divides_the_resampled_sums_by_the_resampled_counts() -> None:
    # Two documents: drawn are (1, 1), (1, 2) or (2, 2), so that the ratio is 1, 7 / 4 or 2 and never a mean of ratios.
    sums, counts = np.array([1.0, 6.0]), np.array([1.0, 3.0])
    totals = resampled_totals(np.stack([sums, counts], axis=1), resamples=200, seed=5)
    assert set(np.round(totals[:, 0] / totals[:, 1], 9)) == {1.0, 1.75, 2.0}


def test_the_block_size_and_sparse_columns_change_no_total(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (np.random.default_rng(1).random((30, 4)) < 0.3).astype(float)
    whole = resampled_totals(columns, resamples=50, seed=2)
    assert np.array_equal(resampled_totals(sparse.csr_matrix(columns), resamples=50, seed=2), whole)
    monkeypatch.setattr(module, "_BLOCK_VALUES", 90)
    assert np.array_equal(resampled_totals(columns, resamples=50, seed=2), whole)


def test_the_interval_agrees_with_scipys_percentile_bootstrap() -> None:
    from scipy import stats

    random = np.random.default_rng(11)
    differences = random.normal(0.2, 1.0, size=150)
    ours = paired_bootstrap(differences, np.zeros(150), np.ones(150), resamples=4000)
    theirs = stats.bootstrap((differences,), np.mean, n_resamples=4000, method="percentile", rng=random)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.02)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.05)


def test_the_interval_holds_the_true_ratio_as_often_as_it_says() -> None:
    random = np.random.default_rng(4)
    held = 0
    for trial in range(400):
        counts = random.integers(5, 50, size=120).astype(float)
        first, second = (counts * random.normal(mean, 0.5, size=120) for mean in (1.3, 1.0))
        result = paired_bootstrap(first, second, counts, resamples=300, seed=trial)
        held += result.low <= 0.3 <= result.high
    assert 0.91 <= held / 400 <= 0.98


def test_a_twentieth_of_null_pairs_is_called_different() -> None:
    random = np.random.default_rng(8)
    found = 0
    for trial in range(1000):
        shared = random.gamma(2.0, size=150)
        first, second = (shared + random.normal(0, 0.3, size=150) for _ in range(2))
        found += paired_bootstrap(first, second, np.ones(150), resamples=400, seed=trial).p_value < 0.05
    assert 30 <= found <= 70


@pytest.mark.parametrize(("documents", "resamples"), [(0, 10), (3, 0)])
def test_nothing_to_draw_is_refused(documents: int, resamples: int) -> None:
    with pytest.raises(MetricError, match="needs a document and a resample"):
        resampled_totals(np.ones((documents, 1)), resamples=resamples)


def test_scores_that_are_not_finite_are_refused() -> None:
    with pytest.raises(MetricError, match="finite"):
        bootstrapped(1.0, np.array([1.0, np.nan]), documents=2)


def test_a_draw_of_another_size_spreads_as_its_size_says() -> None:
    values = np.random.default_rng(8).normal(3.0, 2.0, 400)
    columns = np.stack([values, np.ones(400)], axis=1)
    spreads = []
    for size in (25, 400, 1_600):
        totals = resampled_totals(columns, resamples=1_500, seed=3, size=size)
        assert np.array_equal(totals[:, 1], np.full(1_500, size))
        spreads.append(float((totals[:, 0] / size).std() * np.sqrt(size)))
    assert spreads == pytest.approx([values.std()] * 3, rel=0.08)
    with pytest.raises(MetricError, match="a document and a resample"):
        resampled_totals(columns, size=0)
