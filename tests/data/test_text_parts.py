"""The ids of the parts of a text are those of the text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.data.text_parts import PartEncoder
from elman.data.tokenizer import UNK_ID, Tokenizer, train_sentencepiece
from elman.errors import TokenizerError
from tests.helpers.tokenizers import KINDS, trained

WORDS = ["the", "cat", "▁", "</s>", "<0x41>", "漢字", "films,", "\t", "\n", "\u200b", "Fluß", "q", "\u2585"]
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(" thecatüX漢", max_size=5), max_size=8).map(" ".join)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(text=TEXTS)
def test_parts_that_are_cut_before_spaces_have_the_ids_of_the_whole(kind: str, text: str) -> None:
    tokenizer = trained(kind)
    encoder = PartEncoder(tokenizer)
    first, *others = re.findall(" +[^ ]*|[^ ]+", text) or [""]
    ids = [*encoder.first(first).tolist(), *(number for part in encoder.others(others) for number in part.tolist())]
    assert ids == tokenizer.encode_batch([text])[0].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_spans_are_the_ids_with_their_places(kind: str) -> None:
    tokenizer = trained(kind)
    encoder = PartEncoder(tokenizer)
    for first, part in ((True, "films"), (False, " rare"), (False, " ü漢")):
        spans = encoder.spans(part, first=first)
        ids = encoder.first(part) if first else encoder.others([part])[0]
        assert [span.token_id for span in spans] == ids.tolist()
        assert [span.end for span in spans] == sorted(span.end for span in spans)
        assert spans[-1].end == len(part)


def test_what_goes_on_inside_a_word_has_no_space_in_front() -> None:
    tokenizer = trained("char")
    (ids,) = PartEncoder(tokenizer).others(["at"])
    assert [tokenizer.piece(number) for number in ids] == ["a", "t"]
    (ids,) = PartEncoder(trained("word")).others(["at"])
    assert ids.tolist() == []


def test_a_byte_piece_is_told_from_text() -> None:
    tokenizer = trained("unigram with bytes")
    ids = tokenizer.encode_batch(["漢"])[0]
    assert bytes(tokenizer.byte(number) for number in ids[1:]).decode() == "漢"
    assert tokenizer.byte(ids[0]) is None
    assert UNK_ID not in ids


def test_a_tokenizer_with_pieces_across_spaces_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer(train_sentencepiece(["the cat sat"], model="char", vocab_size=20), model="char")
    names = {number: tokenizer.piece(number) for number in range(tokenizer.vocab_size)}
    monkeypatch.setattr(Tokenizer, "piece", lambda self, number: "e▁c" if number == 7 else names[number])
    with pytest.raises(TokenizerError, match=r"cannot read a text as it comes: the piece 'e▁c' reaches across a space"):
        PartEncoder(tokenizer)
