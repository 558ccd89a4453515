"""Encoded documents in memory, and cutting that keeps eos."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.data.sequences import ENCODED_SCHEMA, cut, cut_documents, read_encoded
from elman.data.tokenizer import EOS_ID
from elman.errors import ArtifactError
from tests.helpers.encoded_documents import make_documents


def write(path: Path, token_ids: list[list[int]]) -> Path:
    count = len(token_ids)
    rows = {
        "id": list(range(count)),
        "token_ids": token_ids,
        "label": [0] * count,
        "num_words": [1] * count,
        "num_bytes": [1] * count,
    }
    pq.write_table(pa.table(rows, schema=ENCODED_SCHEMA), path, row_group_size=2)
    return path


def test_a_table_of_several_row_groups_reads_as_one(tmp_path: Path) -> None:
    documents = read_encoded(write(tmp_path / "t.parquet", [[9, 3], [3], [7, 8, 3], [6, 3], [5, 5, 5, 3]]))
    assert documents.token_ids.tolist() == [9, 3, 3, 7, 8, 3, 6, 3, 5, 5, 5, 3]
    assert documents.offsets.tolist() == [0, 2, 3, 6, 8, 12]
    assert documents.lengths.tolist() == [2, 1, 3, 2, 4]
    assert (len(documents), documents.num_tokens) == (5, 12)


def test_an_empty_table_reads_as_no_documents(tmp_path: Path) -> None:
    documents = read_encoded(write(tmp_path / "t.parquet", []))
    assert (len(documents), documents.num_tokens) == (0, 0)
    assert len(cut_documents(documents, 4)) == 0


@pytest.mark.parametrize("broken", [[9], []])
def test_a_document_without_eos_is_refused(tmp_path: Path, broken: list[int]) -> None:
    with pytest.raises(ArtifactError, match="does not end with eos"):
        read_encoded(write(tmp_path / "t.parquet", [[9, 3], broken]))


@given(st.lists(st.integers(1, 12), max_size=8), st.integers(2, 10))
def test_cutting_keeps_eos_and_the_first_tokens(lengths: list[int], max_length: int) -> None:
    documents = make_documents(lengths)
    together = cut_documents(documents, max_length)
    assert together.lengths.tolist() == [min(length, max_length) for length in lengths]
    for number in range(len(lengths)):
        whole = documents.token_ids[documents.offsets[number] : documents.offsets[number + 1]]
        part = together.token_ids[together.offsets[number] : together.offsets[number + 1]]
        np.testing.assert_array_equal(part, cut(whole, max_length))
        np.testing.assert_array_equal(part[:-1], whole[: len(part) - 1])
        assert part[-1] == EOS_ID
        assert part.dtype == np.int32
