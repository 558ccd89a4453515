"""Classifier batches: every document once, right padding, an order that the seed and the epoch name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.data.document_batches import (
    DocumentBatch,
    bucket_length,
    evaluation_batches,
    padding_fraction,
    training_batches,
)
from elman.data.sequences import EncodedDocuments
from elman.data.tokenizer import EOS_ID, PAD_ID
from tests.helpers.encoded_documents import make_documents

some_lengths = st.lists(st.integers(1, 300), max_size=60)


def rebuilt(batches: list[DocumentBatch]) -> dict[int, tuple[list[int], int]]:
    rows: dict[int, tuple[list[int], int]] = {}
    for batch in batches:
        for tokens, mask, label, number in zip(*batch, strict=True):
            assert int(number) not in rows, "a document came twice"
            rows[int(number)] = (tokens[mask].tolist(), int(label))
    return rows


def expected(documents: EncodedDocuments) -> dict[int, tuple[list[int], int]]:
    return {
        int(documents.ids[row]): (
            documents.token_ids[documents.offsets[row] : documents.offsets[row + 1]].tolist(),
            int(documents.labels[row]),
        )
        for row in range(len(documents))
    }


@given(lengths=some_lengths, batch_size=st.integers(1, 20), epoch=st.integers(0, 3))
def test_every_document_comes_once_with_its_tokens_and_label(lengths: list[int], batch_size: int, epoch: int) -> None:
    documents = make_documents(lengths)
    for batches in (
        list(training_batches(documents, batch_size=batch_size, seed=5, epoch=epoch)),
        list(evaluation_batches(documents, batch_size=batch_size)),
    ):
        assert rebuilt(batches) == expected(documents)
        assert len(batches) == -(-len(documents) // batch_size)
        assert all(len(batch.ids) <= batch_size for batch in batches)


@given(lengths=some_lengths, batch_size=st.integers(1, 20))
def test_padding_is_on_the_right_and_no_row_is_empty(lengths: list[int], batch_size: int) -> None:
    for batch in training_batches(make_documents(lengths), batch_size=batch_size, seed=1, epoch=0):
        assert batch.padding_mask[:, 0].all()
        assert (np.diff(batch.padding_mask.astype(int), axis=1) <= 0).all()
        assert (batch.token_ids[~batch.padding_mask] == PAD_ID).all()
        assert (batch.token_ids[batch.padding_mask] != PAD_ID).all()
        last = batch.padding_mask.sum(axis=1) - 1
        assert (batch.token_ids[np.arange(len(last)), last] == EOS_ID).all()
        assert batch.token_ids.shape[1] == bucket_length(int(last.max()) + 1)
        kinds = tuple(part.dtype for part in batch)
        assert kinds == (np.dtype(np.int32), np.dtype(bool), np.dtype(np.int32), np.dtype(np.int64))


def order(documents: EncodedDocuments, *, seed: int, epoch: int) -> list[list[int]]:
    return [b.ids.tolist() for b in training_batches(documents, batch_size=8, seed=seed, epoch=epoch)]


def test_the_order_is_a_function_of_seed_and_epoch() -> None:
    documents = make_documents(np.random.default_rng(0).integers(1, 60, 500).tolist())
    first = order(documents, seed=1, epoch=0)
    assert first == order(documents, seed=1, epoch=0)
    assert first != order(documents, seed=1, epoch=1)
    assert first != order(documents, seed=2, epoch=0)


def test_batches_hold_other_documents_in_another_epoch() -> None:
    # With a thousand documents of one length, only the shuffling decides who stands together.
    documents = make_documents([20] * 1000)
    pairs = [{frozenset(batch) for batch in order(documents, seed=1, epoch=epoch)} for epoch in (0, 1)]
    assert not pairs[0] & pairs[1]


def test_evaluation_always_has_the_same_order() -> None:
    documents = make_documents([30, 5, 17, 5, 90])
    orders = [[b.ids.tolist() for b in evaluation_batches(documents, batch_size=2)] for _ in range(2)]
    assert orders[0] == orders[1] == [[107, 121], [114, 100], [128]]


def test_little_of_a_long_tailed_corpus_is_padding_and_few_lengths_occur() -> None:
    random = np.random.default_rng(4)
    lengths = np.minimum(np.ceil(random.lognormal(4.2, 0.9, 4000)), 256).astype(int)
    batches = list(training_batches(make_documents(lengths.tolist()), batch_size=32, seed=1, epoch=0))
    assert padding_fraction(batches) < 0.12
    assert len({batch.token_ids.shape[1] for batch in batches}) <= 16


@pytest.mark.parametrize(("longest", "most"), [(256, 16), (1024, 32), (100_000, 86)])
def test_the_number_of_different_lengths_grows_slowly(longest: int, most: int) -> None:
    buckets = {bucket_length(length) for length in range(1, longest + 1)}
    assert len(buckets) <= most


@given(st.integers(1, 100_000))
def test_a_bucket_holds_its_document_with_little_waste(length: int) -> None:
    padded = bucket_length(length)
    assert length <= padded
    assert padded - length < max(16, length / 8 + 1)
