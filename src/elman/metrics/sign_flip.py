"""Sign-flip permutation: could the two systems' names be exchanged, document by document?"""

import numpy as np
import numpy.typing as npt

from elman.errors import MetricError

FLIPS = 10_000
_BLOCK_VALUES = 4_000_000  # float64 signs held at a time: 32 MB
_TIE = 1e-12  # share of sum |d| within which two sums count as equal: they differ by rounding only


def sign_flip(differences: npt.NDArray[np.float64], *, flips: int = FLIPS, seed: int = 1) -> npt.NDArray[np.float64]:
    """Two-sided p of paired differences by flipping their signs.

    If neither system is better, d_i = a_i - b_i could as well have been b_i - a_i. With signs s_i of +1 or -1, the
    share of sign patterns with |sum s_i d_i| >= |sum d_i| is p. Where all 2^n patterns of the n documents that differ
    are no more than `flips`, each is tried once and p is exact; else patterns are drawn and p is (1 + hits) / (1 +
    flips), which is never 0. Of differences of one size this is the sign test, and so McNemar's exact test.

    Args:
        differences: float64 (N,) or (N, P). One column a pair; all pairs see the same signs.
        flips: How many patterns at most; the smallest p is 1 / (1 + flips).
        seed: Of the patterns.

    Returns:
        float64 (P,). 1 where no document differs.

    Raises:
        MetricError: No documents, no flips, or a difference that is not finite.

    Example:
        >>> sign_flip(np.array([1.0, 1.0, 1.0, 1.0, 1.0])).tolist()  # 2 of 32 patterns
        [0.0625]

    References:
        fisher1935design, dror2018hitchhiker in docs/references.bib.
    """
    columns = differences[:, None] if differences.ndim == 1 else differences  # (N, P)
    if len(columns) == 0 or flips < 1:
        raise MetricError(f"a sign-flip test needs a document and a flip; {len(columns)} and {flips} came")
    if not np.isfinite(columns).all():
        raise MetricError("a sign-flip test needs finite differences; one of them is not: are the scores finite?")
    p_values = np.ones(columns.shape[1])
    drawn = []
    for pair, column in enumerate(columns.T):
        moved = column[column != 0]
        if len(moved) == 0:
            continue
        if len(moved) < 63 and 2 ** len(moved) <= flips:
            p_values[pair] = _all_patterns(moved)
        else:
            drawn.append(pair)
    if drawn:
        p_values[drawn] = _drawn_patterns(columns[:, drawn], flips=flips, seed=seed)
    return p_values


def _all_patterns(moved: npt.NDArray[np.float64]) -> float:
    patterns = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1  # (2^n, n)
    sums = (2 * patterns - 1) @ moved
    return float(np.mean(np.abs(sums) >= np.abs(moved.sum()) - _TIE * np.abs(moved).sum()))


def _drawn_patterns(columns: npt.NDArray[np.float64], *, flips: int, seed: int) -> npt.NDArray[np.float64]:
    documents, pairs = columns.shape
    random = np.random.default_rng(seed)
    observed = columns.sum(axis=0)
    bar = np.abs(observed) - _TIE * np.abs(columns).sum(axis=0)  # (P,)
    hits = np.zeros(pairs)
    block = max(1, _BLOCK_VALUES // documents)
    for start in range(0, flips, block):
        rows = min(block, flips - start)
        bits = np.unpackbits(random.integers(256, size=(rows, -(-documents // 8)), dtype=np.uint8), axis=1)
        # sum s d = 2 * (sum of the d whose sign stays) - sum d
        sums = 2.0 * (bits[:, :documents].astype(np.float64) @ columns) - observed  # (rows, P)
        hits += (np.abs(sums) >= bar).sum(axis=0)
    return (1.0 + hits) / (1.0 + flips)
