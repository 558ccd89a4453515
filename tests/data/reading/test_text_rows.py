"""Plain text: lines, blocks between blank lines, and folders of files."""

from pathlib import Path

import pytest

from elman.data.reading.text_rows import read_blocks, read_folder, read_lines_format
from elman.errors import DataError


def test_each_line_is_a_document_blank_ones_too() -> None:
    rows = list(read_lines_format(iter(["one", "", ' two "', "#x"]), source="a.txt"))
    assert [(row.number, row.text) for row in rows] == [(1, "one"), (2, ""), (3, ' two "'), (4, "#x")]


def test_blocks_are_parted_by_any_number_of_blank_lines() -> None:
    rows = list(read_blocks(iter(["", "a", "b", " \t", "", "c", "", "  d"]), source="a.txt"))
    assert [(row.number, row.text) for row in rows] == [(1, "a\nb"), (2, "c"), (3, "  d")]


def test_files_of_a_folder_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "sub/c", ".hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(f"text of\r\n{name}\n".encode())
    rows = list(read_folder(tmp_path, label="pos", encoding="utf-8-sig", source="train/pos"))
    assert [(row.source, row.number, row.label) for row in rows] == [
        ("train/pos/a.txt", 1, "pos"),
        ("train/pos/b.txt", 1, "pos"),
        ("train/pos/sub/c", 1, "pos"),
    ]
    assert rows[0].text == "text of\r\na.txt\n"


def test_document_that_does_not_decode_is_named(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=r"pos/1\.txt: line 1: byte 3 \(e9\)"):
        list(read_folder(tmp_path, label="pos", encoding="utf-8-sig", source="pos"))
