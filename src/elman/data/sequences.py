"""Encoded documents as one flat array of ids with offsets: what batches and windows are cut from.

A document is t1..tn and eos, never cut; no bos. Its length, eos included, is at least 1.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elman.artifacts import read_table
from elman.data.tokenizer import EOS_ID, UNK_ID
from elman.errors import ArtifactError

BATCH_ROWS = 256  # documents in memory at a time when tables are streamed

ENCODED_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("token_ids", pa.list_(pa.int32())),
        ("label", pa.int32()),
        ("num_words", pa.int32()),
        ("num_bytes", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class EncodedDocuments:
    """N documents.

    Attributes:
        token_ids: int32 (tokens of all documents,). Each document's ids and its eos, one after the other.
        offsets: int64 (N + 1,). Document i is `token_ids[offsets[i]:offsets[i + 1]]`.
        ids: int64 (N,). The documents' numbers in their split.
        labels: int32 (N,). -1 without labels.
        num_words: int64 (N,). Whitespace words, eos not counted.
        num_bytes: int64 (N,). UTF-8 bytes of the prepared text, eos not counted.
    """

    token_ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32]
    num_words: npt.NDArray[np.int64]
    num_bytes: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each document, eos included: int64 (N,)."""
        return np.diff(self.offsets)

    @property
    def num_tokens(self) -> int:
        """Tokens of all documents, eos included: the number of targets of a language model."""
        return len(self.token_ids)


def read_encoded(path: Path) -> EncodedDocuments:
    """Reads what the encode stage wrote.

    Raises:
        ArtifactError: The table is missing, damaged, or holds a document without its eos.
    """
    table = read_table(path, columns=ENCODED_SCHEMA.names)
    lists = table.column("token_ids").chunks
    lengths = np.concatenate([np.zeros(0, np.int64), *(chunk.value_lengths().to_numpy() for chunk in lists)])
    token_ids = np.concatenate([np.zeros(0, np.int32), *(chunk.flatten().to_numpy() for chunk in lists)])
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if len(lengths) and (lengths.min() < 1 or np.any(token_ids[offsets[1:] - 1] != EOS_ID)):
        raise ArtifactError(f"{path}: a document does not end with eos; run `dvc repro encode`")
    column = {name: table.column(name).to_numpy() for name in ("id", "label", "num_words", "num_bytes")}
    return EncodedDocuments(
        token_ids=token_ids,
        offsets=offsets,
        ids=column["id"].astype(np.int64),
        labels=column["label"].astype(np.int32),
        num_words=column["num_words"].astype(np.int64),
        num_bytes=column["num_bytes"].astype(np.int64),
    )


def cut(token_ids: npt.NDArray[np.int32], max_length: int) -> npt.NDArray[np.int32]:
    """At most `max_length` ids of one document, the last of them its eos.

    Example:
        >>> cut(np.array([7, 8, 9, 3], np.int32), 3).tolist()
        [7, 8, 3]
    """
    if len(token_ids) <= max_length:
        return token_ids
    return np.append(token_ids[: max_length - 1], token_ids[-1:])


def cut_documents(documents: EncodedDocuments, max_length: int) -> EncodedDocuments:
    """All documents, each cut to at most `max_length` ids with its eos as the last; words and bytes stay as counted."""
    lengths = documents.lengths
    kept = np.minimum(lengths, max_length)
    position = np.arange(documents.num_tokens) - np.repeat(documents.offsets[:-1], lengths)  # (tokens,)
    of_document = np.repeat(lengths, lengths)
    keep = (position < max_length - 1) | (position == of_document - 1)
    offsets = np.zeros_like(documents.offsets)
    np.cumsum(kept, out=offsets[1:])
    return EncodedDocuments(
        token_ids=documents.token_ids[keep],
        offsets=offsets,
        ids=documents.ids,
        labels=documents.labels,
        num_words=documents.num_words,
        num_bytes=documents.num_bytes,
    )


def document_sums(values: npt.NDArray[np.float64], documents: EncodedDocuments) -> npt.NDArray[np.float64]:
    """Values of tokens added up by document.

    Args:
        values: float64 (tokens,). One for each of `documents.token_ids`.
        documents: Whose tokens they are.

    Returns:
        float64 (documents,).
    """
    sums: npt.NDArray[np.float64] = np.add.reduceat(values, documents.offsets[:-1]) if len(values) else np.zeros(0)
    return sums


def document_counts(documents: EncodedDocuments) -> dict[str, npt.NDArray[np.integer]]:
    """Targets, words and bytes of each document, one eos in each; `perplexity_counts` holds their sums.

    Returns:
        int (documents,) by name.
    """
    return {
        "num_tokens": documents.lengths,
        "num_words": documents.num_words + 1,
        "num_bytes": documents.num_bytes + 1,
    }


def perplexity_counts(documents: EncodedDocuments) -> dict[str, int]:
    """What a perplexity is divided by: targets, words and bytes, each with one eos a document, and unknown targets.

    Example:
        >>> two = EncodedDocuments(
        ...     token_ids=np.array([7, 1, 3, 8, 3], np.int32), offsets=np.array([0, 3, 5]), ids=np.arange(2),
        ...     labels=np.array([-1, -1], np.int32), num_words=np.array([2, 1]), num_bytes=np.array([9, 4]))
        >>> perplexity_counts(two)
        {'num_tokens': 5, 'num_words': 5, 'num_bytes': 15, 'num_documents': 2, 'num_unk': 1}
    """
    return {
        **{name: int(counts.sum()) for name, counts in document_counts(documents).items()},
        "num_documents": len(documents),
        "num_unk": int(np.count_nonzero(documents.token_ids == UNK_ID)),
    }
