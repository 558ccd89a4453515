"""Encoded documents of given lengths, all ids distinct as far as possible."""

from collections.abc import Sequence

import numpy as np

from elman.data.sequences import EncodedDocuments
from elman.data.tokenizer import EOS_ID


def make_documents(lengths: Sequence[int]) -> EncodedDocuments:
    """Documents of `lengths` tokens (eos included) with the ids 4, 5, 6, ... and numbers that are not their places."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    token_ids = np.arange(4, 4 + offsets[-1], dtype=np.int32)
    token_ids[offsets[1:] - 1] = EOS_ID
    numbers = np.arange(len(lengths))
    return EncodedDocuments(
        token_ids=token_ids,
        offsets=offsets,
        ids=100 + 7 * numbers,
        labels=(numbers % 3).astype(np.int32),
        num_words=np.asarray(lengths, np.int64),
        num_bytes=5 * np.asarray(lengths, np.int64),
    )
