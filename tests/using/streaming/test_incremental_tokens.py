"""Tokens of a text that comes piece by piece are those of the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.data.text_parts import PartEncoder
from elman.using.streaming.incremental_cleaning import HELD
from elman.using.streaming.incremental_tokens import IncrementalTokens
from tests.helpers.pieces import cut_up
from tests.helpers.tokenizers import KINDS, trained

ENCODERS: dict[str, PartEncoder] = {}


def tokens(kind: str) -> IncrementalTokens:
    if kind not in ENCODERS:
        ENCODERS[kind] = PartEncoder(trained(kind))
    return IncrementalTokens(ENCODERS[kind])


def fed(kind: str, pieces: list[str]) -> list[int]:
    stream = tokens(kind)
    return np.concatenate([*map(stream.feed, pieces), stream.finish()]).tolist()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(text=st.text(" thecat\n漢üX", max_size=20), seed=st.integers(0, 99))
def test_pieces_have_the_tokens_of_the_whole(kind: str, text: str, seed: int) -> None:
    assert fed(kind, cut_up(text, seed=seed, pieces=6)) == trained(kind).encode_batch([text])[0].tolist()


def test_a_token_is_given_when_the_space_after_its_word_has_come() -> None:
    stream = tokens("unigram")
    given = [stream.feed(piece) for piece in ["the ca", "t", " ", "sat"]]
    names = [[trained("unigram").piece(number) for number in ids] for ids in [*given, stream.finish()]]
    assert ["".join(pieces) for pieces in names] == ["▁the", "", "▁cat", "", "▁sat"]
    assert stream.feed("a ").tolist() == trained("unigram").encode_batch(["a"])[0].tolist()


def test_a_word_that_is_known_to_end_is_given_at_once() -> None:
    stream = tokens("unigram")
    given = [stream.feed("the", whole_words=True), stream.feed(" cat"), stream.feed("", whole_words=True)]
    names = ["".join(trained("unigram").piece(number) for number in ids) for ids in given]
    assert names == ["▁the", "", "▁cat"]
    assert stream.finish().tolist() == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["catsat" * 800 + " the", "漢" * 3000, "the " + "ü漢" * 1200, "a" + " " * 3000 + "b"])
def test_a_word_without_end_is_held_in_part_only_and_has_the_tokens_of_the_whole(kind: str, text: str) -> None:
    stream = tokens(kind)
    given = []
    for start in range(0, len(text), 11):
        given.append(stream.feed(text[start : start + 11]))
        assert len(stream.held) <= HELD
    ids = np.concatenate([*given, stream.finish()]).tolist()
    assert ids == fed(kind, [text])
    assert ids == trained(kind).encode_batch([text])[0].tolist()
