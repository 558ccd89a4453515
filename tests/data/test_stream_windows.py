"""Windows for language models: every target once, in order, with the state where it belongs."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.data.sequences import EncodedDocuments
from elman.data.stream_windows import (
    Window,
    evaluation_windows,
    padding_fraction,
    training_windows,
)
from elman.data.tokenizer import BOS_ID, EOS_ID, PAD_ID
from tests.helpers.encoded_documents import make_documents

Mode = Literal["document", "stream"]
MODES: tuple[Mode, ...] = ("document", "stream")
Segment = list[tuple[int, int, int]]  # (place in the flat ids, input, target) of each step

some_lengths = st.lists(st.integers(1, 50), max_size=40)


def segments(windows: list[Window]) -> list[Segment]:
    """Follows `keep` and `reset` as a model's carried state does, and gives what each state has read."""
    done: list[Segment] = []
    rows: list[Segment] = []
    for window in windows:
        going_on = [[] if new else rows[old] for old, new in zip(window.keep, window.reset, strict=True)]
        kept = {int(old) for old, new in zip(window.keep, window.reset, strict=True) if not new}
        done.extend(row for number, row in enumerate(rows) if number not in kept)
        rows = going_on
        for number, row in enumerate(rows):
            real = window.padding_mask[number]
            row.extend(
                zip(
                    window.places[number][real].tolist(),
                    window.token_ids[number][real].tolist(),
                    window.targets[number][real].tolist(),
                    strict=True,
                )
            )
    return done + rows


def stream(documents: EncodedDocuments) -> Segment:
    """All steps in the order of the documents, built one by one."""
    steps: Segment = []
    for row in range(len(documents)):
        previous = BOS_ID
        for place in range(documents.offsets[row], documents.offsets[row + 1]):
            steps.append((place, previous, int(documents.token_ids[place])))
            previous = steps[-1][2]
    return steps


def train(documents: EncodedDocuments, mode: Mode, *, rows: int, window_length: int, epoch: int = 0) -> list[Window]:
    return list(training_windows(documents, mode=mode, rows=rows, window_length=window_length, seed=1, epoch=epoch))


def in_order(found: list[Segment], documents: EncodedDocuments) -> list[Segment]:
    """Segments by their place in the stream; all steps of `make_documents` differ."""
    place = {step: number for number, step in enumerate(stream(documents))}
    return sorted(found, key=lambda segment: place[segment[0]])


def joined(found: list[Segment]) -> Segment:
    return [step for segment in found for step in segment]


@pytest.mark.parametrize("window_length", [5, 35, 1000])
@pytest.mark.parametrize("rows", [1, 7, 10])
@pytest.mark.parametrize("mode", MODES)
def test_each_of_1003_targets_comes_once_in_order_along_its_row(mode: Mode, rows: int, window_length: int) -> None:
    # salesforce/awd-lstm-lm#83: the tail that does not fill a batch was dropped.
    documents = make_documents([1, 2, 100, 400, 250, 250])
    assert documents.num_tokens == 1003
    for windows in (
        train(documents, mode, rows=rows, window_length=window_length),
        list(evaluation_windows(documents, mode=mode, rows=rows, window_length=window_length)),
    ):
        found = in_order(segments(windows), documents)
        assert joined(found) == stream(documents)
        assert all(window.token_ids.shape[0] <= rows for window in windows)
        assert all(window.token_ids.shape[1] <= window_length for window in windows)


@pytest.mark.parametrize("mode", MODES)
def test_rows_not_divisible_by_the_batch_are_all_scored(mode: Mode) -> None:
    # keras-team/keras#1561: 50 tokens in 4 rows fail at the end of an epoch.
    documents = make_documents([50])
    windows = train(documents, mode, rows=4, window_length=5)
    assert joined(in_order(segments(windows), documents)) == stream(documents)


@given(lengths=some_lengths, rows=st.integers(1, 9), window_length=st.integers(1, 40), epoch=st.integers(0, 2))
def test_a_document_is_one_segment_that_starts_at_zero(
    lengths: list[int], rows: int, window_length: int, epoch: int
) -> None:
    documents = make_documents(lengths)
    for windows in (
        train(documents, "document", rows=rows, window_length=window_length, epoch=epoch),
        list(evaluation_windows(documents, mode="document", rows=rows, window_length=window_length)),
    ):
        found = in_order(segments(windows), documents)
        assert joined(found) == stream(documents)
        assert [len(segment) for segment in found] == lengths
        assert [segment[0][0] for segment in found] == documents.offsets[:-1].tolist()
        assert all(segment[0][1] == BOS_ID and segment[-1][2] == EOS_ID for segment in found)


@given(lengths=some_lengths, rows=st.integers(1, 9), window_length=st.integers(1, 40))
def test_a_stream_is_cut_into_contiguous_rows_whose_sizes_differ_by_at_most_one(
    lengths: list[int], rows: int, window_length: int
) -> None:
    documents = make_documents(lengths)
    found = in_order(segments(train(documents, "stream", rows=rows, window_length=window_length)), documents)
    assert joined(found) == stream(documents)
    sizes = {len(segment) for segment in found}
    assert len(found) == min(rows, documents.num_tokens)
    assert not sizes or max(sizes) - min(sizes) <= 1


@given(lengths=some_lengths, rows=st.integers(1, 9), window_length=st.integers(1, 40), mode=st.sampled_from(MODES))
def test_every_row_has_a_token_and_padding_is_on_the_right(
    lengths: list[int], rows: int, window_length: int, mode: Mode
) -> None:
    before = 1
    for window in train(make_documents(lengths), mode, rows=rows, window_length=window_length):
        assert window.padding_mask[:, 0].all()
        assert (np.diff(window.padding_mask.astype(int), axis=1) <= 0).all()
        assert (window.token_ids[~window.padding_mask] == PAD_ID).all()
        assert (window.targets[~window.padding_mask] == PAD_ID).all()
        assert (window.places[~window.padding_mask] == -1).all()
        assert not np.isin(window.targets[window.padding_mask], [PAD_ID, BOS_ID]).any()
        assert not np.isin(window.token_ids[window.padding_mask], [PAD_ID, EOS_ID]).any()
        assert window.token_ids.dtype == window.targets.dtype == window.keep.dtype == np.int32
        assert (window.keep < before).all(), "keep names a row that the window before did not have"
        assert len(set(window.keep[~window.reset])) == np.count_nonzero(~window.reset)
        before = len(window.keep)


def test_evaluation_of_a_stream_does_not_depend_on_the_number_of_rows() -> None:
    documents = make_documents([3, 40, 11])
    one, many = (
        segments(list(evaluation_windows(documents, mode="stream", rows=rows, window_length=7))) for rows in (1, 10)
    )
    assert one == many == [stream(documents)]


def test_windows_are_a_function_of_seed_and_epoch() -> None:
    documents = make_documents(np.random.default_rng(0).integers(1, 60, 200).tolist())

    def order(seed: int, epoch: int) -> list[list[int]]:
        windows = training_windows(documents, mode="document", rows=8, window_length=20, seed=seed, epoch=epoch)
        return [window.places[:, 0].tolist() for window in windows]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


@pytest.mark.parametrize("window_length", [35, 64])
def test_little_of_a_long_tailed_corpus_is_padding_and_few_window_lengths_occur(window_length: int) -> None:
    lengths = np.ceil(np.random.default_rng(4).lognormal(4.2, 0.9, 4000)).astype(int)
    windows = train(make_documents(lengths.tolist()), "document", rows=32, window_length=window_length)
    assert padding_fraction(windows) < 0.08
    assert len({window.token_ids.shape[1] for window in windows}) <= window_length // 4 + 1


def test_a_window_is_no_stub_of_a_long_document() -> None:
    # 71 = 35 + 35 + 1 would leave a step on one token.
    windows = train(make_documents([71]), "document", rows=1, window_length=35)
    assert [window.padding_mask.sum() for window in windows] == [24, 24, 23]
