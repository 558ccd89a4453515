from elman.reporting.facts import data_facts, split_table

PREPARED = {
    "rows_read": 12,
    "rows_used": 9,
    "rows_rejected": 3,
    "rejected": {"empty": 1, "stands_in_test": 2},
    "splits": {"train": {"rows": 6, "words": 60, "bytes": 300}, "valid": {"rows": 2}, "test": {"rows": 1}},
    "near_duplicates": {"test": {"checked": 1, "near_duplicates": 0}},
    "encoding": "utf-8",
}
ENCODED = {"vocab_size": 8000, "max_length": 256, "train": {"tokens": 70, "cut_documents": 2}}


def test_the_splits_are_counted_side_by_side_and_what_is_not_known_is_not_zero() -> None:
    rows = dict(split_table("classifier", PREPARED, ENCODED))
    assert rows["documents"] == ["6", "2", "1"]
    assert rows["words"] == ["60", "n/a", "n/a"]
    assert rows["documents cut at 256 tokens"] == ["2", "n/a", "n/a"]
    assert "unknown tokens" not in rows


def test_a_language_model_cuts_no_documents() -> None:
    assert not any("cut" in name for name, _ in split_table("language_model", PREPARED, ENCODED))


def test_every_row_is_accounted_for_in_words() -> None:
    facts = dict(data_facts(PREPARED, ENCODED))
    assert facts["rows"] == "12 read = 9 used + 3 rejected"
    assert facts["rejected, by reason"] == "empty 1, stands in test 2"
    assert facts["close to a train document"] == "test 0 of 1"
    assert facts["vocabulary"] == "8,000 pieces"
    assert "labels" not in facts


def test_what_stands_in_two_splits_is_said_whether_it_was_taken_out_or_kept() -> None:
    removed = dict(data_facts({"removed_repeats": {"train": 3, "valid": 0}}, {}))
    kept = dict(data_facts({"kept_repeats": {"train": 725, "valid": 28}}, {}))
    assert removed == {"taken out of a split as repeats": "train 3, valid 0"}
    assert kept == {"kept though they stand in a later split": "train 725, valid 28"}


def test_empty_summaries_give_no_facts() -> None:
    assert data_facts({}, {}) == []
    assert split_table("language_model", {}, {}) == []
