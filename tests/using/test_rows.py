"""Rows from pipes: each is there as soon as it was written, none is lost, and what cannot be read is named."""

import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from elman.errors import DataError
from elman.models.serving import Cleaning
from elman.using.rows import PAUSE_ROW, rows_of_file, rows_of_stream, text_of
from elman.using.texts import PAUSE, Refused, pools

CLEANING = Cleaning(unicode_form="NFC", lowercase=False, whitespace="collapse")


@pytest.fixture
def pipe() -> Iterator[tuple[io.BufferedReader, int]]:
    read, write = os.pipe()
    with os.fdopen(read, "rb") as stream:
        yield stream, write


def rows(given: bytes, encoding: str = "utf-8") -> list[tuple[int, str]]:
    found = rows_of_stream(io.BytesIO(given), encoding=encoding)
    return [(row.number, row.text) for row in found if row is not PAUSE_ROW]


def test_a_line_of_a_pipe_is_answered_before_the_next_one_is_written(pipe: tuple[io.BufferedReader, int]) -> None:
    stream, write = pipe
    os.write(write, b"one\ntwo\nthr")
    found = pools((text_of(row) for row in rows_of_stream(stream, encoding="utf-8")), cleaning=CLEANING)
    assert next(found).texts == ["one", "two"]
    os.write(write, b"ee\r\n\xff\n")
    third = next(found)
    assert third.texts == ["three"]
    assert isinstance(third.refused[1], Refused)
    os.write(write, b"four")
    os.close(write)
    assert next(found).texts == ["four"]
    assert next(found, None) is None


def test_a_pause_without_a_text_makes_no_pool() -> None:
    assert [pool.texts for pool in pools([PAUSE, "a", "b", PAUSE, PAUSE, "c"], cleaning=CLEANING)] == [
        ["a", "b"],
        ["c"],
    ]


def test_a_full_pipe_is_read_in_large_pools(pipe: tuple[io.BufferedReader, int]) -> None:
    stream, write = pipe
    lines = [f"{number} " + "x" * (number * 37 % 90) for number in range(8000)]

    def fill() -> None:
        with os.fdopen(write, "wb") as file:
            file.write("\n".join(lines).encode())

    filling = threading.Thread(target=fill)
    filling.start()
    found = [row.text for row in rows_of_stream(stream, encoding="utf-8") if row is not PAUSE_ROW]
    filling.join()
    assert found == lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_line_ends_marks_and_characters_over_two_reads_are_taken_as_of_a_file(encoding: str) -> None:
    lines = ["h\xe9llo", "", " \u2028x" if encoding != "latin-1" else " x", "last"]
    written = "\r\n".join(lines).encode("utf-8-sig" if encoding == "utf-8" else encoding)

    class Slow(io.BytesIO):
        def read1(self, _: int | None = -1, /) -> bytes:
            return super().read1(4 if self.tell() == 0 else 1)

    found = rows_of_stream(Slow(written), encoding=encoding)
    assert [row.text for row in found if row is not PAUSE_ROW] == lines
    assert rows(b"", encoding) == []


def test_a_byte_order_mark_of_another_encoding_is_told() -> None:
    with pytest.raises(DataError, match="standard input: starts as utf-16 does: set --encoding to utf-16"):
        rows("the key\n".encode("utf-16"))
    assert rows("the key\n".encode("utf-16"), "utf-16") == [(1, "the key")]
    with pytest.raises(DataError, match="lines end in a carriage return alone"):
        rows(b"one\rtwo")


def test_a_named_pipe_is_read_as_a_file_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "63"
    os.mkfifo(path)
    writing = threading.Thread(target=path.write_text, args=("the key\nold\n",))
    writing.start()
    found = [row for row in rows_of_file(path, column="text", encoding="utf-8") if row is not PAUSE_ROW]
    writing.join()
    assert [(row.source, row.number, row.text) for row in found] == [(str(path), 1, "the key"), (str(path), 2, "old")]
