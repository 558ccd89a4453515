"""JSON lines: typed values are told apart, and what is not a row says why."""

import pytest

from elman.data.reading.jsonl_rows import read_jsonl
from elman.data.reading.rows import Columns, RawRow
from elman.errors import DataError

COLUMNS = Columns(text="text", label="label")


def read(*lines: str, columns: Columns = COLUMNS) -> list[RawRow]:
    return list(read_jsonl(iter(lines), columns=columns, source="a.jsonl"))


def test_texts_and_labels_are_exact() -> None:
    rows = read(
        '{"label": "x", "text": "NA"}', r'{"text": "two\nlines \"quoted\" \u00e9\t,", "label": "y", "more": [1]}'
    )
    assert [(row.text, row.label) for row in rows] == [("NA", "x"), ('two\nlines "quoted" é\t,', "y")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "blank_line"),
        ("{", "invalid_json"),
        ('["text"]', "not_an_object"),
        ('{"label": "x"}', "missing_text"),
        ('{"text": null, "label": "x"}', "missing_text"),
        ('{"text": 5, "label": "x"}', "text_not_string"),
        ('{"text": "a", "label": ["x"]}', "label_not_text"),
        ('{"text": "a", "label": 0.5}', "label_not_text"),
        ("[" * 100_000, "invalid_json"),
    ],
)
def test_line_that_is_no_row_says_why(line: str, reason: str) -> None:
    rows = read('{"text": "a", "label": "x"}', line)
    assert [row.reason for row in rows] == [None, reason]


def test_labels_keep_the_type_under_which_they_are_stored() -> None:
    rows = read(*(f'{{"text": "a", "label": {label}}}' for label in ("1", '"1"', "true", "null")))
    assert [(row.label, row.label_type) for row in rows] == [
        ("1", "number"),
        ("1", "string"),
        ("true", "boolean"),
        (None, None),
    ]


def test_column_that_no_object_has_is_refused() -> None:
    with pytest.raises(DataError, match=r"there is no column 'label'; did you mean 'labels'\?"):
        read('{"text": "a", "labels": "x"}')


def test_split_column_gives_the_split() -> None:
    columns = Columns(text="text", label=None, split="fold")
    rows = read('{"text": "a", "fold": "dev"}', '{"text": "a", "fold": 3}', columns=columns)
    assert [(row.split, row.reason) for row in rows] == [("valid", None), (None, "unknown_split")]
