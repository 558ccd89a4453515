"""Interpolated modified Kneser-Ney: the strongest language model that only counts n-grams."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elman.baselines.ngram_counts import (
    NO_NGRAM,
    AnyIntArray,
    IntArray,
    NgramCounts,
    find_keys,
    longer_keys,
    stream_with_bos,
)
from elman.baselines.unigram import NEVER_TARGETS
from elman.data.tokenizer import BOS_ID, EOS_ID
from elman.errors import MetricError

FloatArray = npt.NDArray[np.float64]

FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)  # for counts of 1, 2, and 3 or more


@dataclass(frozen=True, slots=True)
class KneserNey:
    """A fitted model: `fit_kneser_ney` makes it.

    Attributes:
        vocab_size: V.
        keys: By order n - 1: int64 (n-grams,), as in `Level`.
        shares: By order n - 1: float64 (n-grams + 1,). (a(hw) - D) / a(h), the discounted share of the history; the
            last is 0, for what train never shows, so that the number -1 finds it.
        leftovers: By order n - 1: float64 (histories + 1,). What the discounts leave for the shorter history; the last
            is 1, for a history that train never shows.
        discounts: By order n - 1: D of n-grams counted once, twice, and three times or more.
    """

    vocab_size: int
    keys: tuple[IntArray, ...]
    shares: tuple[FloatArray, ...]
    leftovers: tuple[FloatArray, ...]
    discounts: tuple[tuple[float, float, float], ...]

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self.keys)

    def log_probabilities(self, token_ids: AnyIntArray, lengths: AnyIntArray) -> FloatArray:
        """The log probability of every token, eos included, after bos and the tokens before it in its document.

        Args:
            token_ids: int (tokens,). The documents one after another, each with its eos and without bos.
            lengths: int (documents,). Tokens of each document.

        Returns:
            float64 (tokens,). Nats.

        Raises:
            MetricError: There is no document, or one is not as the encode stage writes it.
        """
        stream = stream_with_bos(token_ids, lengths, vocab_size=self.vocab_size)
        probabilities = np.full(len(stream), 1.0 / (self.vocab_size - len(NEVER_TARGETS)))
        histories = np.zeros(len(stream), np.int64)  # of length 0: there is one
        wanted = stream
        for keys, shares, leftovers in zip(self.keys, self.shares, self.leftovers, strict=True):
            numbers = find_keys(keys, wanted)
            probabilities = shares[numbers] + leftovers[histories] * probabilities
            histories = np.concatenate([[NO_NGRAM], numbers[:-1]])
            wanted = longer_keys(numbers, stream, vocab_size=self.vocab_size)
        logs: FloatArray = np.log(probabilities[stream != BOS_ID])
        return logs

    def distribution(self, history: AnyIntArray) -> FloatArray:
        """The probability of every token after the beginning of a document.

        Args:
            history: int (tokens,). The tokens since the document's beginning, without bos and eos; it may be empty.

        Returns:
            float64 (V,). Adds up to 1; 0 for pad and bos.

        Raises:
            MetricError: The history holds pad, bos, eos or an id outside the vocabulary.
        """
        past = stream_with_bos(np.append(history, EOS_ID), np.array([len(history) + 1]), vocab_size=self.vocab_size)[
            :-1
        ]
        probabilities = np.full(self.vocab_size, 1.0 / (self.vocab_size - len(NEVER_TARGETS)))
        probabilities[list(NEVER_TARGETS)] = 0.0
        numbers = np.zeros(len(past), np.int64)  # of the n-gram that ends at each place of the past
        wanted = past
        for keys, shares, leftovers in zip(self.keys, self.shares, self.leftovers, strict=True):
            number = int(numbers[-1])
            probabilities *= leftovers[number]
            if number != NO_NGRAM:
                first, end = np.searchsorted(keys, [number * self.vocab_size, (number + 1) * self.vocab_size])
                probabilities[keys[first:end] - number * self.vocab_size] += shares[first:end]
            numbers = find_keys(keys, wanted)
            wanted = longer_keys(numbers, past, vocab_size=self.vocab_size)
        return probabilities


def fit_kneser_ney(counts: NgramCounts, *, order: int) -> KneserNey:
    """Interpolated modified Kneser-Ney of one order.

    p_n(w | h) = (a(hw) - D(a(hw))) / a(h) + leftover(h) * p_{n-1}(w | h without its first token). In the highest order
    a(hw) is how often hw stands in train; in the lower ones it is how many different tokens stand before hw, because a
    lower order only speaks where the higher one was silent. a(h) is the sum of a(hw) over w, and leftover(h) is the
    share of it that the discounts took. Below the unigrams stands 1 / (V - 2), for every token but pad and bos.

    Args:
        counts: What `count_ngrams` returns.
        order: Length of the longest n-grams, at most that of the counts.

    Raises:
        MetricError: The order is not among those counted.

    References:
        chen1998empirical in docs/references.bib, sections 3 and 4.1.6; heafield2013scalable for bos and the fallback.
    """
    if not 1 <= order <= len(counts.levels):
        raise MetricError(f"n-grams of length 1 to {len(counts.levels)} were counted, order {order} was asked for")
    keys, shares, leftovers, discounts = [], [], [], []
    histories = 1
    for n, level in enumerate(counts.levels[:order], start=1):
        adjusted = (level.counts if n == order else level.continuations).copy()
        if n == 1:
            adjusted[level.keys == BOS_ID] = 0  # a history and never a target
        found = estimate_discounts(adjusted)
        taken = np.array([0.0, *found])[np.minimum(adjusted, 3)]  # (n-grams,)
        history = level.keys // counts.vocab_size if n > 1 else np.zeros(len(level.keys), np.int64)
        total = np.bincount(history, weights=adjusted, minlength=histories)
        removed = np.bincount(history, weights=taken, minlength=histories)
        leftover = np.divide(removed, total, out=np.ones(histories), where=total > 0)
        keys.append(level.keys)
        shares.append(np.append((adjusted - taken) / np.maximum(total[history], 1.0), 0.0))
        leftovers.append(np.append(leftover, 1.0))
        discounts.append(found)
        histories = len(level.keys)
    return KneserNey(counts.vocab_size, tuple(keys), tuple(shares), tuple(leftovers), tuple(discounts))


def estimate_discounts(counts: IntArray) -> tuple[float, float, float]:
    """D1, D2 and D3 of one order from how many n-grams were counted once, twice, three and four times.

    With n_k the number of n-grams counted k times and Y = n1 / (n1 + 2 n2): D_k = k - (k + 1) Y n_{k+1} / n_k. Small or
    made-up texts have no n-gram of some count, or give a D_k that is not above 0 and at most k: all three are 0.5, 1
    and 1.5 then. A D_k of 0 would leave nothing for tokens that a history never shows.

    Example:
        >>> estimate_discounts(np.repeat([1, 2, 3, 4], [8, 4, 2, 1]))
        (0.5, 1.25, 2.0)
        >>> estimate_discounts(np.array([1, 1, 2]))
        (0.5, 1.0, 1.5)
    """
    n = np.bincount(np.minimum(counts, 5), minlength=6).astype(np.float64)
    if not n[1:5].all():
        return FALLBACK_DISCOUNTS
    y = n[1] / (n[1] + 2.0 * n[2])
    first, second, third = (float(k - (k + 1) * y * n[k + 1] / n[k]) for k in (1, 2, 3))
    if not (0.0 < first <= 1.0 and 0.0 < second <= 2.0 and 0.0 < third <= 3.0):
        return FALLBACK_DISCOUNTS
    return first, second, third
