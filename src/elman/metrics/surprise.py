"""Where a language model is surprised: its negative log-likelihood by bands of tokens, and by document."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import MetricError

IntArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]

TRAIN_COUNT_BANDS = (0, 1, 2, 6, 21, 101, 1001)  # first count of each band


class Band(NamedTuple):
    """Tokens whose value (a position, a count) lies from `first` to `last`.

    Attributes:
        first: Least value of the band.
        last: Largest value; None for the band that has no end.
        num_tokens: Tokens in it.
        nll_nats: Their negative log-likelihoods added up, in nats.
    """

    first: int
    last: int | None
    num_tokens: int
    nll_nats: float

    @property
    def nats_per_token(self) -> float | None:
        """The mean; None where no token lies in the band."""
        return self.nll_nats / self.num_tokens if self.num_tokens else None


def position_bands(longest: int) -> list[int]:
    """First position of each band: 1, 2, 3-4, 5-8, 9-16 and so on, as far as the longest document goes.

    Example:
        >>> position_bands(9), position_bands(1)
        ([1, 2, 3, 5, 9], [1])
    """
    return [1, *((1 << power) + 1 for power in range((longest - 1).bit_length()))]


def token_positions(lengths: IntArray) -> npt.NDArray[np.int64]:
    """The position in its document of every token, from 1 on.

    Example:
        >>> token_positions(np.array([2, 3])).tolist()
        [1, 2, 1, 2, 3]
    """
    starts = np.cumsum(lengths) - lengths  # (documents,)
    return np.arange(int(lengths.sum())) - np.repeat(starts, lengths) + 1


def surprise_by(values: IntArray, nll_nats: FloatArray, *, firsts: Sequence[int], open_end: bool) -> list[Band]:
    """Adds the negative log-likelihoods up by band; every token lies in one band, so that the sums give the whole.

    Args:
        values: int (tokens,). What the bands go by, at least the first of `firsts`.
        nll_nats: float (tokens,). Negative log-likelihood of each token, in nats.
        firsts: The first value of each band, rising.
        open_end: Whether the last band has no end; else it is as wide as the values that it holds.

    Raises:
        MetricError: A value for each token is missing, or one lies below all bands.

    Example:
        >>> surprise_by(np.array([1, 3, 4, 9]), np.array([0.5, 1.0, 2.0, 4.0]), firsts=[1, 2, 5], open_end=True)
        [Band(first=1, last=1, num_tokens=1, nll_nats=0.5), Band(first=2, last=4, num_tokens=2, nll_nats=3.0), \
Band(first=5, last=None, num_tokens=1, nll_nats=4.0)]
    """
    if values.shape != nll_nats.shape:
        raise MetricError(f"each token has a value and a likelihood; {len(values)} and {len(nll_nats)} came")
    if len(values) and values.min() < firsts[0]:
        raise MetricError(f"the bands begin at {firsts[0]}; the value {values.min()} came")
    bands = np.searchsorted(np.asarray(firsts), values, side="right") - 1  # (tokens,)
    counts = np.bincount(bands, minlength=len(firsts))
    sums = np.bincount(bands, weights=nll_nats, minlength=len(firsts))
    last = None if open_end else int(values.max(initial=firsts[-1]))
    lasts = [*(first - 1 for first in firsts[1:]), last]
    return [Band(*band) for band in zip(firsts, lasts, counts.tolist(), sums.tolist(), strict=True)]


def most_surprising(
    nll_nats: FloatArray, *, num_bytes: IntArray, num_tokens: IntArray, least_tokens: int = 5, most: int = 20
) -> npt.NDArray[np.int64]:
    """The documents with the most bits per byte, the worst first; short ones are left out, as a single odd word is one.

    Args:
        nll_nats: float (documents,). Summed over a document's tokens, in nats.
        num_bytes: int (documents,). Of the text with its eos.
        num_tokens: int (documents,). Eos included.
        least_tokens: Documents with fewer are left out.
        most: How many documents at most.

    Returns:
        int64 (documents found,). Their places; of equals the first one comes first.
    """
    long_enough = np.flatnonzero(num_tokens >= least_tokens)
    nats_per_byte = nll_nats[long_enough] / num_bytes[long_enough]
    return long_enough[np.argsort(-nats_per_byte, kind="stable")[:most]]
