"""Splits by hash: the shares asked for, and no document that changes side."""

import random

from hypothesis import given
from hypothesis import strategies as st

from elman.data.duplicates import text_digest
from elman.data.splits import SPLITS, SplitRule, split_rule

RULE = SplitRule(valid_fraction=0.1, test_fraction=0.2)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_side_depends_on_the_folded_text_alone(text: str) -> None:
    side = RULE.side(None, text_digest(text))
    assert side in SPLITS
    assert RULE.side(None, text_digest(f"  {text}\n")) == side
    assert RULE.side("train", text_digest(text)) == side


def test_shares_are_those_of_the_rule() -> None:
    words = random.Random(3)
    sides = [RULE.side(None, text_digest(f"{words.random()} film")) for _ in range(20_000)]
    for split, share in (("train", 0.7), ("valid", 0.1), ("test", 0.2)):
        assert abs(sides.count(split) / len(sides) - share) < 0.01


def test_own_valid_and_test_stand_whatever_the_hash() -> None:
    assert {RULE.side("valid", digest << 54) for digest in range(1024)} == {"valid"}
    assert {RULE.side("test", digest << 54) for digest in range(1024)} == {"test"}


def test_split_that_the_data_brings_is_not_made_again() -> None:
    rule = split_rule(frozenset({"train", "test"}), valid_fraction=0.1, test_fraction=0.2)
    assert (rule.valid_fraction, rule.test_fraction) == (0.1, 0.0)


def test_sides_are_the_same_on_every_machine_and_in_every_version() -> None:
    texts = ["good film", "bad film", "a", "b", "c", "d"]
    sides = ["test", "train", "valid", "train", "valid", "train"]
    assert [RULE.side(None, text_digest(text)) for text in texts] == sides
