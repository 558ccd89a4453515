"""How often each n-gram stands in a text, as sorted integer arrays."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elman.data.tokenizer import BOS_ID, EOS_ID, PAD_ID
from elman.errors import MetricError

IntArray = npt.NDArray[np.int64]
AnyIntArray = npt.NDArray[np.integer]

NO_NGRAM = -1
LARGEST_ORDER = 8


class Level(NamedTuple):
    """All n-grams of one length; an n-gram is named by its number, its place in `keys`.

    A key is the number of the first n - 1 tokens among the n-grams one shorter, times the vocabulary, plus the last
    token. So n-grams with one history stand side by side, and no n-gram is ever a tuple.

    Attributes:
        keys: int64 (n-grams,). Sorted, each once.
        counts: int64 (n-grams,). How often the n-gram stands in the text.
        continuations: int64 (n-grams,). How many different tokens stand before it. Nothing stands before an n-gram that
            begins with bos, so that it has its count here.
    """

    keys: IntArray
    counts: IntArray
    continuations: IntArray


class NgramCounts(NamedTuple):
    """`levels[n - 1]` holds the n-grams of length n; `vocab_size` is V."""

    levels: list[Level]
    vocab_size: int


def count_ngrams(token_ids: AnyIntArray, lengths: AnyIntArray, *, order: int, vocab_size: int) -> NgramCounts:
    """Counts every n-gram up to the order; a document begins after one bos, and no n-gram goes over its ends.

    Args:
        token_ids: int (tokens,). The documents one after another, each with its eos and without bos.
        lengths: int (documents,). Tokens of each document.
        order: Length of the longest n-grams, 1 to 8.
        vocab_size: V.

    Raises:
        MetricError: The order is out of range, there is no document, or one is not as the encode stage writes it.

    Example:
        >>> counts = count_ngrams(np.array([4, 4, 3]), np.array([3]), order=2, vocab_size=5)
        >>> counts.levels[0].keys.tolist(), counts.levels[0].continuations.tolist()  # 4 stands after bos and after 4
        ([2, 3, 4], [1, 1, 2])
        >>> [divmod(key, 5) for key in counts.levels[1].keys.tolist()]  # the history by its number: 0 is bos, 2 is 4
        [(0, 4), (2, 3), (2, 4)]
    """
    if not 1 <= order <= LARGEST_ORDER:
        raise MetricError(f"the order of an n-gram model is 1 to {LARGEST_ORDER}; {order} came")
    stream = stream_with_bos(token_ids, lengths, vocab_size=vocab_size)
    levels: list[Level] = []
    keys, shorter = stream, None
    for _ in range(order):
        valid = np.flatnonzero(keys >= 0)
        distinct, first, inverse, counts = np.unique(
            keys[valid], return_index=True, return_inverse=True, return_counts=True
        )
        if shorter is not None:  # each n-gram is one more token before the one that it ends with
            before = np.bincount(shorter[valid[first]], minlength=len(levels[-1].keys))
            levels[-1] = levels[-1]._replace(continuations=np.where(before > 0, before, levels[-1].counts))
        levels.append(Level(distinct, counts, counts))
        numbers = np.full(len(stream), NO_NGRAM, np.int64)
        numbers[valid] = inverse
        keys, shorter = longer_keys(numbers, stream, vocab_size=vocab_size), numbers
    return NgramCounts(levels, vocab_size)


def stream_with_bos(token_ids: AnyIntArray, lengths: AnyIntArray, *, vocab_size: int) -> IntArray:
    """The documents with one bos before each: int64 (tokens + documents,).

    Raises:
        MetricError: There is no document, or one is not as the encode stage writes it.
    """
    if len(lengths) == 0:
        raise MetricError("an n-gram model needs at least one document: is the split empty?")
    if lengths.min() < 1 or lengths.sum() != len(token_ids):
        raise MetricError(
            f"documents of {lengths.min()} or more tokens, {lengths.sum()} together, but {len(token_ids)} ids came: "
            "each document has at least its eos, and the lengths add up to the ids"
        )
    if token_ids.min() < 0 or token_ids.max() >= vocab_size:
        raise MetricError(
            f"token ids are 0 to {vocab_size - 1}; found {token_ids.min()} to {token_ids.max()}: "
            "is this the tokenizer that the text was encoded with?"
        )
    if np.isin(token_ids, (PAD_ID, BOS_ID)).any():
        raise MetricError(f"the text holds the id {PAD_ID} (pad) or {BOS_ID} (bos), which no encoded document may hold")
    ends = np.cumsum(lengths)
    if np.count_nonzero(token_ids == EOS_ID) != len(lengths) or np.any(token_ids[ends - 1] != EOS_ID):
        raise MetricError(f"each document has one eos (id {EOS_ID}), its last token; run `dvc repro encode`")
    return np.insert(token_ids.astype(np.int64), ends - lengths, BOS_ID)


def longer_keys(numbers: IntArray, stream: IntArray, *, vocab_size: int) -> IntArray:
    """The keys of the n-grams that are one token longer and end at each place of the stream.

    Args:
        numbers: int64 (places,). The n-gram that ends at each place, -1 where there is none.
        stream: int64 (places,). Token ids with bos.
        vocab_size: V.

    Returns:
        int64 (places,). -1 where the document is too short for one, or where its history has no number.
    """
    keys = np.full(len(stream), NO_NGRAM, np.int64)
    known = (numbers[:-1] != NO_NGRAM) & (stream[1:] != BOS_ID)
    keys[1:][known] = numbers[:-1][known] * vocab_size + stream[1:][known]
    return keys


def find_keys(keys: IntArray, wanted: IntArray) -> IntArray:
    """The number of each wanted key in the sorted `keys`, -1 where it is not there or is -1 itself."""
    if len(keys) == 0:
        return np.full(len(wanted), NO_NGRAM, np.int64)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, places, NO_NGRAM)
