"""Cleaning is deterministic, idempotent, and leaves nothing of what it is there to remove."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.data.cleaning import clean_text

FORMS = ["none", "NFC", "NFD", "NFKC", "NFKD"]
# Any text, with the characters at which cleaning does something over-represented.
ODD = "\ufeff\u200b\u200d\x00\x07\x0b\x0c\x1c\x7f\x85\xa0\u2028\u3000\r\n\t İıßΣςﬁᴬ\u0301e\u0345K"
TEXTS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(ODD)), max_size=30)


@settings(deadline=None, max_examples=300)
@given(TEXTS, st.sampled_from(FORMS), st.booleans(), st.sampled_from(["collapse", "keep"]))
def test_cleaning_a_clean_text_changes_nothing(text: str, form: str, lowercase: bool, whitespace: str) -> None:
    once = clean_text(text, unicode_form=form, lowercase=lowercase, whitespace=whitespace)
    assert clean_text(once, unicode_form=form, lowercase=lowercase, whitespace=whitespace) == once


@settings(deadline=None, max_examples=300)
@given(TEXTS, st.sampled_from(FORMS))
def test_clean_text_has_single_spaces_the_normal_form_and_no_controls(text: str, form: str) -> None:
    cleaned = clean_text(text, unicode_form=form)
    assert cleaned == " ".join(cleaned.split())
    assert form == "none" or unicodedata.is_normalized(form, cleaned)  # type: ignore[arg-type]
    assert not any(unicodedata.category(char) == "Cc" or char == "\ufeff" for char in cleaned)


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\ufeff", "\u200b \n\t", "\x00\x01", "\u00ad\u2060"])
def test_text_without_anything_to_see_becomes_empty(text: str) -> None:
    assert clean_text(text) == ""
    assert clean_text(text, whitespace="keep") == ""


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("NA", "NA"),
        ("null", "null"),
        ("two\nlines", "two lines"),
        ("a\tb\u3000c\xa0d", "a b c d"),
        ("bell\x07 and nul\x00", "bell and nul"),
        ("page\x0cbreak", "page break"),
        ("\ufeffmarked", "marked"),
        ("cafe\u0301", "caf\u00e9"),
        (
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_text_is_kept_but_for_what_the_settings_name(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


def test_keep_leaves_white_space_and_settles_line_ends() -> None:
    assert clean_text("  def f():\r\n\treturn 1\r", whitespace="keep") == "  def f():\n\treturn 1\n"


def test_forms_differ_where_they_should() -> None:
    assert clean_text("ﬁne x²", unicode_form="NFC") == "ﬁne x²"
    assert clean_text("ﬁne x²", unicode_form="NFKC") == "fine x2"
    assert clean_text("é", unicode_form="NFD") == "e\u0301"


def test_lowercase_lowers() -> None:
    assert clean_text("Good FILM Ünder", lowercase=True) == "good film ünder"
