"""Encoded documents made of random ids, for tests of models, training and evaluation."""

import numpy as np

from elman.data.sequences import EncodedDocuments

EOS = 3


def random_documents(lengths, *, vocab_size: int = 20, num_classes: int = 3, seed: int = 0) -> EncodedDocuments:
    """One document a length (eos included), ids from 4 up, labels at random."""
    random = np.random.default_rng(seed)
    documents = [np.append(random.integers(4, vocab_size, length - 1), EOS) for length in lengths]
    return EncodedDocuments(
        token_ids=np.concatenate(documents).astype(np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        ids=np.arange(len(lengths), dtype=np.int64),
        labels=random.integers(0, num_classes, len(lengths)).astype(np.int32),
        num_words=np.array(lengths, np.int64),
        num_bytes=np.array(lengths, np.int64) * 5,
    )
