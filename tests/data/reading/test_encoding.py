"""From bytes to lines: BOM, CRLF, other codecs, and an exact place for what does not decode."""

import gzip
from pathlib import Path

import pytest

from elman.data.reading import encoding as encoding_module
from elman.data.reading.detection import detect_encoding
from elman.data.reading.encoding import codec_name, read_document, read_lines
from elman.errors import DataError

FRENCH = ["Le café était très agréable,", "mais le garçon n'a pas été poli", "à la fin du déjeuner."]


def lines(path: Path, encoding: str = "utf-8") -> list[str]:
    return list(read_lines(path, encoding=codec_name(encoding), name=path.name))


def write(tmp_path: Path, content: bytes, name: str = "a.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_bom_and_crlf_are_taken_off(tmp_path: Path) -> None:
    assert lines(write(tmp_path, b"\xef\xbb\xbfone\r\ntwo\r\n\r\nthree")) == ["one", "two", "", "three"]


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"
    assert lines(write(tmp_path, f"{text}\nh\n".encode())) == [text, "h"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-8", "cp1252", "utf-32"])
def test_any_codec_reads_its_own_lines(tmp_path: Path, encoding: str) -> None:
    assert lines(write(tmp_path, "\r\n".join(FRENCH).encode(encoding)), encoding) == FRENCH


def test_gzip_is_unpacked(tmp_path: Path) -> None:
    assert lines(write(tmp_path, gzip.compress("one\ntwö\n".encode()), "a.txt.gz")) == ["one", "twö"]


def test_damaged_gzip_is_a_data_error(tmp_path: Path) -> None:
    whole = gzip.compress(b"one\n" * 1000)
    with pytest.raises(DataError, match=r"a\.txt\.gz: cannot be read"):
        lines(write(tmp_path, whole[: len(whole) // 2], "a.txt.gz"))


@pytest.mark.parametrize("before", [0, 10, 5_000, 1_048_575, 1_048_576, 3_000_000])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_undecodable_byte_is_named_by_line_and_offset(tmp_path: Path, before: int, bom: bytes) -> None:
    start = bom + (b"x" * 99 + b"\n") * (before // 100) + "é".encode() * (before % 100 // 2) + b"y" * (before % 2)
    path = write(tmp_path, start + b"caf\xe9 au lait\nmore\n")
    with pytest.raises(DataError) as caught:
        lines(path)
    place = f"a.txt: line {before // 100 + 1}: byte {len(start) + 3} (e9) is not utf-8"
    assert place in str(caught.value)
    assert "dataset.encoding" in str(caught.value)


def test_character_cut_at_the_end_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2: byte 7 \(c3\) is not utf-8: unexpected end of data"):
        lines(write(tmp_path, b"one\ntwo\xc3"))


def test_undecodable_byte_of_a_whole_document_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"pos/1.txt: line 2: byte 5 \(ff\)"):
        read_document(write(tmp_path, b"one\nt\xffwo"), encoding="utf-8-sig", name="pos/1.txt")


def test_utf_16_read_as_utf_8_gets_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"set dataset\.encoding to utf-16"):
        lines(write(tmp_path, "one\n".encode("utf-16")))


def test_carriage_returns_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="carriage return alone"):
        lines(write(tmp_path, b"one\rtwo\rthree"))


def test_endless_line_is_refused_before_it_fills_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding_module, "MAX_LINE", 1_000)
    with pytest.raises(DataError, match=r"line 2 has over 1,000 characters; set dataset\.format"):
        lines(write(tmp_path, b"short\n" + b"x" * 5_000))


@pytest.mark.parametrize("name", ["utf-9", "rot13", "no such codec"])
def test_unknown_codec_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="is not a text encoding of Python"):
        codec_name(name)


@pytest.mark.parametrize(
    ("text", "codec", "read_as"),
    [
        ("\n".join(FRENCH), "latin-1", "cp1252"),
        ("naïve café", "latin-1", "cp1252"),
        ("Съешь же ещё этих мягких французских булок", "cp1251", "cp1251"),
        ("Съешь же ещё этих мягких французских булок", "koi8-r", "koi8_r"),
        ("これは日本語のテキストです。今日は天気がいいですね。", "shift_jis", "shift_jis"),
        ("plain ascii", "ascii", "utf-8-sig"),
        ("\n".join(FRENCH), "utf-8", "utf-8-sig"),
        ("\n".join(FRENCH), "utf-16", "utf-16"),
    ],
)
def test_auto_detects_an_encoding_that_gives_the_text_back(tmp_path: Path, text: str, codec: str, read_as: str) -> None:
    path = write(tmp_path, b"plain english line\n" * 200 * (codec != "utf-16") + text.encode(codec))
    detected = detect_encoding([path], name="a.txt")
    assert detected == read_as
    assert "\n".join(lines(path, detected)).endswith(text)


def test_auto_refuses_utf_8_with_a_few_broken_lines(tmp_path: Path) -> None:
    """A guess would fit the broken line and garble all the good ones."""
    path = write(tmp_path, "\n".join(FRENCH).encode() + b"\ncaf\xe9\n")
    with pytest.raises(DataError, match=r"3 lines are UTF-8, 1 are not \(first: a\.txt, line 4\)"):
        detect_encoding([path], name="a.txt")
