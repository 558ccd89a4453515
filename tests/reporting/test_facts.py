from elman.reporting.facts import data_facts, data_sentence, label_table, length_sentence, length_table, split_table

PREPARED = {
    "rows_read": 1012,
    "rows_used": 1009,
    "rows_rejected": 3,
    "rejected": {"empty": 1, "stands_in_test": 2},
    "splits": {
        "train": {"rows": 606, "words": 60, "bytes": 300},
        "valid": {"rows": 202},
        "test": {"rows": 201},
    },
    "document_words": [
        {"split": "valid", "min": 2, "p50": 7.5, "p95": 30.0, "max": 41},
        {"split": "test", "min": 3, "p50": 9.0, "p95": 33.0, "max": 40},
    ],
    "overlap_with_train": {
        "valid": {"exact": 0, "near": 0, "checked": 202, "share": 0.0},
        "test": {"exact": 2, "near": 3, "checked": 201, "share": 0.0249},
    },
    "labels": [
        {"label": "a", "train": 6, "valid": 1, "test": 2},
        {"label": "b", "train": 600, "valid": 201, "test": 199},
    ],
    "encoding": "utf-8",
}
ENCODED = {
    "vocab_size": 8000,
    "max_length": 256,
    "train": {"tokens": 700, "unk_tokens": 7, "cut_documents": 2, "cut_tokens": 140, "length_max": 301},
}


def test_the_splits_are_counted_side_by_side_and_what_is_not_known_is_not_zero() -> None:
    rows = dict(split_table("classifier", PREPARED, ENCODED))
    assert rows["documents"] == ["606", "202", "201"]
    assert rows["words"] == ["60", "n/a", "n/a"]
    assert rows["cut at 256 tokens"] == ["2 (0.3\u00a0%)", "n/a", "n/a"]
    assert rows["tokens cut"] == ["140 (20.0\u00a0%)", "n/a", "n/a"]
    assert rows["unknown tokens"] == ["7 (1.0\u00a0%)", "n/a", "n/a"]
    assert "unknown tokens" not in dict(split_table("classifier", PREPARED, {}))


def test_copies_in_train_stand_in_the_columns_of_valid_and_test() -> None:
    rows = dict(split_table("language_model", PREPARED, ENCODED))
    assert rows["exact copies in train"] == ["–", "0", "2"]
    assert rows["near copies in train"] == ["–", "0", "3"]


def test_near_copies_of_a_split_that_was_looked_up_in_part_say_so() -> None:
    overlap = {"exact": 0, "near": 90, "checked": 18_000, "share": 0.005}
    prepared = {"overlap_with_train": {"test": overlap}, "splits": {"test": {"rows": 90_000}}}
    rows = dict(split_table("classifier", prepared, {}))
    assert rows["near copies in train"] == ["–", "n/a", "90 of 18,000 looked up"]


def test_a_language_model_cuts_no_documents() -> None:
    assert not any("cut" in name for name, _ in split_table("language_model", PREPARED, ENCODED))


def test_the_first_sentence_says_what_was_used_and_what_leaks() -> None:
    assert data_sentence(PREPARED).replace("\u00a0", " ") == (
        "1,012 rows read: 1,009 used, 3 rejected. 0 % of the valid documents and 2.5 % of the test documents stand in "
        "train too, exactly or nearly."
    )


def test_lengths_are_told_in_words_and_in_tokens() -> None:
    rows = dict(length_table(PREPARED, ENCODED))
    assert rows["words a document: median"] == ["n/a", "8", "9"]
    assert rows["tokens a document: most"] == ["301", "n/a", "n/a"]
    assert length_sentence(PREPARED).replace("\u00a0", " ") == (
        "Lengths: of the test documents half have up to 9 words, 95 % up to 33, all up to 40"
    )


def test_labels_are_counted_by_split_the_largest_first() -> None:
    assert label_table(PREPARED) == [["b", "600", "201", "199"], ["a", "6", "1", "2"]]


def test_every_row_is_accounted_for_in_words() -> None:
    facts = dict(data_facts(PREPARED, ENCODED))
    assert facts["rejected, by reason"] == "empty 1, stands in test 2"
    assert facts["near copies"] == "left in; all pairs stand in data/prepared/leaks.parquet"
    assert facts["vocabulary"] == "8,000 pieces"


def test_what_stands_in_two_splits_is_said_whether_it_was_taken_out_or_kept() -> None:
    removed = dict(data_facts({"removed_repeats": {"train": 3, "valid": 0}}, {}))
    kept = dict(data_facts({"kept_repeats": {"train": 725, "valid": 28}}, {}))
    assert removed == {"exact copies taken out": "train 3, valid 0"}
    assert kept == {"exact copies left in": "train 725, valid 28"}


def test_empty_summaries_give_no_facts() -> None:
    assert data_facts({}, {}) == []
    assert split_table("language_model", {}, {}) == []
    assert length_table({}, {}) == []
    assert data_sentence({}) == ""
    assert length_sentence({}) == "Lengths"
