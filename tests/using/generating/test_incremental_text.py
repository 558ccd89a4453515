"""Text of tokens that come one by one is what the tokenizer decodes, with no half of a character shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.data.tokenizer import BOS_ID, EOS_ID, PAD_ID, Tokenizer
from elman.using.generating.incremental_text import IncrementalText
from tests.helpers.tokenizers import KINDS, trained


def shown(tokenizer: Tokenizer, ids: list[int], *, skip_space: bool = True) -> list[str]:
    text = IncrementalText(tokenizer, skip_space=skip_space)
    return [*(text.add(number) for number in ids), text.finish()]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(text=st.text(" thecat\n漢üX😀", max_size=12))
def test_joined_it_is_what_was_encoded(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    ids = [number for number in tokenizer.encode_batch([text])[0].tolist() if number != tokenizer.unk_id]
    assert "".join(shown(tokenizer, ids)) == tokenizer.decode(ids)


@given(
    st.lists(st.sampled_from(["a", "é", "漢", "😀", "▁", 0xC3, 0xE6, 0xA9, 0xF0, 0x9F, 0xFF, 0xED, 0xA0]), max_size=9)
)
def test_bytes_that_make_no_character_are_decoded_as_by_the_tokenizer(parts: list) -> None:
    tokenizer = trained("unigram with bytes")
    bytes_ = {tokenizer.byte(number): number for number in range(4, tokenizer.vocab_size)}
    ids = []
    for part in parts:
        values = [part] if isinstance(part, int) else [] if part == "▁" else list(part.encode())
        ids += [bytes_[value] for value in values] or [_space(tokenizer)]
    text = "".join(shown(tokenizer, ids, skip_space=True))
    assert text == tokenizer.decode(ids)


def _space(tokenizer: Tokenizer) -> int:
    return next(number for number in range(4, tokenizer.vocab_size) if tokenizer.piece(number) == "▁")


def test_a_character_is_shown_when_it_is_whole_and_never_in_halves() -> None:
    tokenizer = trained("unigram with bytes")
    ids = tokenizer.encode_batch(["漢a"])[0].tolist()[1:]
    assert shown(tokenizer, ids) == ["", "", "漢", "a", ""]
    assert shown(tokenizer, ids[:2]) == ["", "", "\ufffd\ufffd"]


def test_the_space_in_front_is_left_out_once_where_it_is_asked_for() -> None:
    tokenizer = trained("char")
    ids = tokenizer.encode_batch([" a b"])[0].tolist()
    assert "".join(shown(tokenizer, ids, skip_space=True)) == " a b"
    assert "".join(shown(tokenizer, ids, skip_space=False)) == "  a b"


def test_special_tokens_are_no_text() -> None:
    tokenizer = trained("char")
    assert "".join(shown(tokenizer, [BOS_ID, PAD_ID, EOS_ID])) == ""
