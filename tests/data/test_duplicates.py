"""The folded text and the hash that stands for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.data.duplicates import Digests, fold, text_digest


@pytest.mark.parametrize("other", ["Good Film", "  good   film\n", "GOOD\tFILM", "good\u3000film", "good\xa0film"])
def test_case_and_spacing_do_not_tell_texts_apart(other: str) -> None:
    assert text_digest(other) == text_digest("good film")


def test_composition_of_characters_does_not_tell_texts_apart() -> None:
    assert text_digest("cafe\u0301") == text_digest("CAF\u00c9")


@pytest.mark.parametrize("other", ["good films", "goodfilm", "film good", "good, film", "good film 2"])
def test_other_words_tell_texts_apart(other: str) -> None:
    assert text_digest(other) != text_digest("good film")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_collapsed_text_needs_no_splitting(text: str) -> None:
    collapsed = " ".join(text.split())
    assert fold(collapsed, collapsed=True) == fold(text)


def test_half_of_a_surrogate_pair_has_no_digest() -> None:
    with pytest.raises(UnicodeEncodeError):
        text_digest("bad \ud800")


def test_digests_tell_which_documents_stand_elsewhere_and_how_many_repeat() -> None:
    digests = Digests(("train", "valid", "test"))
    for split, values in {"train": [1, 2, 3, 3, 4], "valid": [2, 5], "test": [4, 2, 2]}.items():
        for value in values:
            digests.add(split, value)
    assert digests.standing_in("train", ("test", "valid")).tolist() == [0, 1, 0, 0, 1]
    assert digests.standing_in("train", ("valid",)).tolist() == [0, 1, 0, 0, 0]
    assert [digests.repeated_inside(split) for split in ("train", "valid", "test")] == [1, 0, 1]
    digests.drop("train", np.array([False, True, False, False, True]))
    assert digests.of("train").tolist() == [1, 3, 3]
    digests.add("train", 9)
    assert digests.of("train").tolist() == [1, 3, 3, 9]


def test_splits_without_documents_stand_nowhere() -> None:
    digests = Digests(("train", "test"))
    assert digests.standing_in("train", ("test",)).tolist() == []
    assert digests.repeated_inside("test") == 0
