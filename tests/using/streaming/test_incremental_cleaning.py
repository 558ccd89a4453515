"""A text that is cleaned piece by piece is cleaned as a whole, wherever it is cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.data.cleaning import clean_text
from elman.models.serving import Cleaning
from elman.using.streaming.incremental_cleaning import HELD, IncrementalCleaning

FORMS = ["none", "NFC", "NFD", "NFKC", "NFKD"]
# Characters at which cleaning does something, or that change with what stands beside them.
ODD = "\ufeff\u200b\x00\x07\x0b\x1c\x85\xa0\u2028\u3000\r\n\t  İΣςsﬁ\u0301e\u0345\u0338=´가\u1100\u1161\u11a8"
TEXTS = st.lists(st.text(st.sampled_from(ODD), max_size=6), max_size=8)


def cleaning(**changes: object) -> Cleaning:
    return Cleaning(**{"unicode_form": "NFC", "lowercase": False, "whitespace": "collapse", **changes})


def fed(pieces: list[str], settings_: Cleaning) -> str:
    stream = IncrementalCleaning(settings_)
    return "".join([*map(stream.feed, pieces), stream.finish()])


@settings(max_examples=200)
@given(TEXTS, st.sampled_from(FORMS), st.booleans(), st.sampled_from(["collapse", "keep"]))
def test_pieces_are_cleaned_as_the_whole(pieces: list[str], form: str, lowercase: bool, whitespace: str) -> None:
    settings_ = cleaning(unicode_form=form, lowercase=lowercase, whitespace=whitespace)
    assert fed(pieces, settings_) == clean_text("".join(pieces), **settings_.model_dump())


def test_a_word_is_given_when_the_space_after_it_has_come() -> None:
    stream = IncrementalCleaning(cleaning(lowercase=True))
    assert [stream.feed(piece) for piece in ["  Whe", "at ", "\n", "Pr", "ices\tro"]] == [
        "",
        "wheat",
        "",
        "",
        " prices",
    ]
    assert stream.finish() == " ro"
    assert stream.feed("New ") == "new"  # a new text has no space in front


def test_an_accent_and_a_line_end_may_come_in_the_next_piece() -> None:
    assert fed(["cafe", "\u0301 noir"], cleaning()) == "caf\u00e9 noir"
    assert fed(["one\r", "\ntwo\r", "three"], cleaning(whitespace="keep")) == "one\ntwo\nthree"
    assert fed(["ΟΔΟ", "Σ ΟΔΟΣ"], cleaning(lowercase=True)) == "οδος οδος"


def test_a_beginning_without_anything_to_see_waits_for_something() -> None:
    stream = IncrementalCleaning(cleaning())
    assert [stream.feed(piece) for piece in ["\u200b ", "\u200b ", "a "]] == ["", "", "\u200b \u200b a"]
    assert stream.finish() == ""
    assert (stream.feed("\u200b "), stream.finish()) == ("", "")


@pytest.mark.parametrize("whitespace", ["collapse", "keep"])
def test_a_word_without_end_is_held_in_part_only_and_cut_where_the_text_says(whitespace: str) -> None:
    text = "so " + "e\u0301a" * 2000 + " ends " + "x" * 3000
    settings_ = cleaning(whitespace=whitespace)
    stream = IncrementalCleaning(settings_)
    given = []
    for start in range(0, len(text), 7):
        given.append(stream.feed(text[start : start + 7]))
        assert len(stream.held) <= HELD
    given.append(stream.finish())
    assert "".join(given) == fed([text], settings_) == clean_text(text, whitespace=whitespace)


def test_text_that_cannot_be_seen_is_not_held_without_end() -> None:
    stream = IncrementalCleaning(cleaning())
    given = "".join(stream.feed("\u200b ") for _ in range(HELD))
    assert len(given) > HELD // 2
    assert len(stream.unseen) == 0
