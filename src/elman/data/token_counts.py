"""How often each token stands in a split, with the counts that a perplexity is divided by."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from elman.artifacts import read_batches
from elman.errors import ArtifactError


class TokenCounts(NamedTuple):
    """What a unigram model needs to know of a split.

    Attributes:
        tokens: int64 (vocab_size,). How often each id stands there, eos included.
        documents: Documents.
        words: Words separated by white space, eos not counted.
        bytes: UTF-8 bytes of the prepared text, eos not counted.
    """

    tokens: npt.NDArray[np.int64]
    documents: int
    words: int
    bytes: int


def count_tokens(path: Path, vocab_size: int) -> TokenCounts:
    """Counts a split batch by batch, so that memory does not grow with the text.

    Raises:
        ArtifactError: The table is missing or damaged, or holds an id outside the vocabulary.
    """
    tokens = np.zeros(vocab_size, np.int64)
    documents = words = size = 0
    for batch in read_batches(path, columns=["token_ids", "num_words", "num_bytes"]):
        ids = batch.column("token_ids").flatten().to_numpy()
        if len(ids) and (ids.min() < 0 or ids.max() >= vocab_size):
            raise ArtifactError(
                f"{path}: holds the id {ids.max()}, but the tokenizer has {vocab_size} pieces; run `dvc repro encode`"
            )
        tokens += np.bincount(ids, minlength=vocab_size)
        documents += batch.num_rows
        words += pc.sum(batch.column("num_words")).as_py() or 0
        size += pc.sum(batch.column("num_bytes")).as_py() or 0
    return TokenCounts(tokens=tokens, documents=documents, words=words, bytes=size)
