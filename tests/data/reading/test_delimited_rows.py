"""CSV and TSV: texts come exactly as they stand, and a stray quote costs its own row only."""

import csv
import io
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.data.reading.delimited_rows import read_csv, read_tsv
from elman.data.reading.rows import Columns, RawRow
from elman.errors import DataError

COLUMNS = Columns(text="text", label="label")


def lines_of(text: str) -> Iterator[str]:
    return iter(text.removesuffix("\n").split("\n"))


def read(text: str, columns: Columns = COLUMNS) -> list[RawRow]:
    return list(read_csv(lines_of(text), columns=columns, source="a.csv"))


def used(rows: list[RawRow]) -> list[tuple[str | None, str | None]]:
    return [(row.text, row.label) for row in rows if row.reason is None]


def test_csv_keeps_missing_value_words_quotes_commas_tabs_and_line_ends() -> None:
    """Guards against pandas-dev/pandas#32084: `NA`, `null` and `None` are words."""
    rows = read('text,label\nNA,x\nnull,y\nNone,x\n"two\nlines",y\n"say ""hi""",x\na\tb,y\n"a, b",x\nnan,NA\n')
    texts = ["NA", "null", "None", "two\nlines", 'say "hi"', "a\tb", "a, b", "nan"]
    assert used(rows) == list(zip(texts, ["x", "y", "x", "y", "x", "y", "x", "NA"], strict=True))
    assert [row.number for row in rows] == list(range(1, 9))


def test_tsv_keeps_a_leading_quote_as_text() -> None:
    """Guards against pytorch/text#612: a lone quote swallowed the rows after it."""
    text = 'label\ttext\nx\t"starts with a quote\ny\tplain\nx\tNA\ny\tends with one"\n'
    rows = list(read_tsv(lines_of(text), columns=COLUMNS, source="a.tsv"))
    assert used(rows) == [('"starts with a quote', "x"), ("plain", "y"), ("NA", "x"), ('ends with one"', "y")]


def test_tsv_row_with_another_number_of_fields_is_rejected_with_its_line() -> None:
    rows = list(read_tsv(lines_of("label\ttext\nx\ta\tb\ny\tc\n\nz\n"), columns=COLUMNS, source="a.tsv"))
    assert [(row.reason, row.detail) for row in rows] == [
        ("field_count", "line 2: 3 fields, the header has 2"),
        (None, ""),
        ("blank_line", "line 4"),
        ("field_count", "line 5: 1 fields, the header has 2"),
    ]


def test_quote_that_never_closes_costs_its_own_row() -> None:
    body = "".join(f"film {i},good\n" for i in range(500))
    rows = read(f'text,label\nfirst,bad\n"never closed,bad\n{body}')
    assert used(rows) == [("first", "bad")] + [(f"film {i}", "good") for i in range(500)]
    (rejected,) = [row for row in rows if row.reason]
    assert (rejected.number, rejected.reason) == (2, "unbalanced_quote")
    assert rejected.detail.startswith("line 3: a quoted field opens here and does not close before the end of the file")


def test_two_stray_quotes_do_not_join_the_rows_between_them() -> None:
    """`"bad ... "` is valid CSV over many lines; that each line ends in a known label gives the stray quote away."""
    rows = read('text,label\na,good\nb,bad\n"stray,bad\nc,good\nd,bad\nquote",good\ne,bad\n')
    texts = ["a", "b", "c", "d", 'quote"', "e"]
    assert used(rows) == list(zip(texts, ["good", "bad", "good", "bad", "good", "bad"], strict=True))
    assert [row.detail.split(":")[0] for row in rows if row.reason] == ["line 4"]


def test_stray_quote_before_a_quoted_row_costs_its_own_row() -> None:
    rows = read('text,label\n"stray,bad\nb,good\n"fine, quoted",bad\nc,good\n')
    assert used(rows) == [("b", "good"), ("fine, quoted", "bad"), ("c", "good")]
    assert [row.reason for row in rows if row.reason] == ["unbalanced_quote"]


def test_stray_quotes_without_labels_do_not_join_many_rows() -> None:
    rows = read('id,text\n1,a\n"2,stray\n3,b\n4,c\n5,d\n6",e\n7,f\n', Columns(text="text"))
    assert [row.text for row in rows if row.reason is None] == ["a", "b", "c", "d", "e", "f"]


def test_runaway_field_of_many_megabytes_is_found_without_reading_the_whole_file() -> None:
    read_lines = 0

    def lines() -> Iterator[str]:
        nonlocal read_lines
        yield "text,label"
        yield '"runs away,bad'
        for number in range(200_000):
            read_lines += 1
            yield f"film number {number} with a long enough text to fill some megabytes of memory,good"

    rows = read_csv(lines(), columns=COLUMNS, source="a.csv")
    first = next(rows)
    assert first.reason == "unbalanced_quote"
    assert "does not close before 4,194,304 characters" in first.detail
    assert read_lines < 60_000
    assert sum(row.reason is None for row in rows) == 200_000


def test_long_multi_line_documents_are_kept() -> None:
    document = "\n".join(f"a verse, with a comma, number {i}" for i in range(20_000))  # 600 kB, over csv's own limit
    rows = read(f'text,label\nplain,good\n"{document}",good\nnext,bad\n')
    assert used(rows) == [("plain", "good"), (document, "good"), ("next", "bad")]


def test_quotes_inside_an_unquoted_field_are_text() -> None:
    assert used(read('text,label\na 5" disk,x\nhe said "no",y\n')) == [('a 5" disk', "x"), ('he said "no"', "y")]


def test_text_after_a_closing_quote_is_rejected_not_guessed() -> None:
    rows = read('text,label\n"abc"def,x\nnext,y\n')
    assert rows[0].reason == "unbalanced_quote"
    assert used(rows) == [("next", "y")]


def test_multi_line_row_with_another_number_of_fields_is_one_reject() -> None:
    rows = read('text,label\n"one\ntwo",x,extra\nnext,y\n')
    assert [row.detail for row in rows if row.reason] == ["line 2, 2 lines long: 3 fields, the header has 2"]
    assert used(rows) == [("next", "y")]


def test_split_column_gives_the_split_and_refuses_other_words() -> None:
    columns = Columns(text="text", label=None, split="part")
    rows = read("text,part\na,train\nb,Dev\nc,holdout\nd,TEST\n", columns)
    assert [row.split for row in rows] == ["train", "valid", None, "test"]
    assert rows[2].reason == "unknown_split"


def test_missing_column_names_the_columns_found_and_the_nearest() -> None:
    with pytest.raises(DataError, match=r"a\.csv: there is no column 'text'; did you mean 'Text'\?.*'Text', 'label'"):
        read("Text,label\na,b\n")


def test_column_that_stands_twice_is_refused() -> None:
    with pytest.raises(DataError, match="holds the column 'text' 2 times"):
        read("text,label,text\na,b,c\n")


@pytest.mark.parametrize("content", ["", "\n", '"text,label\na,b\n'])
def test_file_without_a_readable_header_is_refused(content: str) -> None:
    with pytest.raises(DataError, match=r"a\.csv: the (first|header) line"):
        read(content)


FIELD = st.text(st.sampled_from("ab\",\n\t ;'é漢"), max_size=12)
PROSE = st.text(st.sampled_from("ab\"\n\t ;'é漢"), max_size=12)


def written(rows: list[tuple[str, ...]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return stream.getvalue()


@settings(deadline=None, max_examples=200)
@given(st.lists(FIELD, min_size=1, max_size=12))
def test_one_column_that_the_csv_module_writes_is_read_back_exactly(texts: list[str]) -> None:
    found = read(written([("text",), *((text,) for text in texts)]), Columns(text="text"))
    assert [row.text for row in found if row.reason is None] == texts


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(PROSE, st.sampled_from(["x", "y"])), min_size=1, max_size=12))
def test_labelled_rows_that_the_csv_module_writes_are_read_back_exactly(rows: list[tuple[str, str]]) -> None:
    assert used(read(written([("text", "label"), *rows]))) == rows
