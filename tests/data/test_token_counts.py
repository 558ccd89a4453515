from pathlib import Path

import pytest

from elman.artifacts import TableWriter
from elman.data.sequences import ENCODED_SCHEMA
from elman.data.token_counts import count_tokens
from elman.errors import ArtifactError


@pytest.fixture
def train(tmp_path: Path) -> Path:
    """Three documents in two row groups, as the encode stage writes them."""
    path = tmp_path / "train.parquet"
    with TableWriter(path, ENCODED_SCHEMA) as writer:
        writer.write({"id": [0, 1], "token_ids": [[4, 5, 3], [4, 4, 3]], "label": [1, 0], "num_words": [2, 3],
                      "num_bytes": [9, 8]})  # fmt: skip
        writer.write({"id": [2], "token_ids": [[5, 4, 3]], "label": [1], "num_words": [1], "num_bytes": [4]})
    return path


def test_tokens_documents_words_and_bytes_are_counted_over_all_parts(train: Path) -> None:
    counts = count_tokens(train, 7)
    assert counts.tokens.tolist() == [0, 0, 0, 3, 4, 2, 0]
    assert (counts.documents, counts.words, counts.bytes) == (3, 6, 21)


def test_an_id_outside_the_vocabulary_names_the_file(train: Path) -> None:
    with pytest.raises(ArtifactError, match=r"train\.parquet: holds the id 5, but the tokenizer has 5 pieces"):
        count_tokens(train, 5)
