"""`dataset.encoding: auto`: UTF-8 where all of a file is UTF-8, else a guess from its lines that are not ASCII."""

from collections.abc import Iterable
from pathlib import Path

from elman.data.reading.encoding import bom_encoding, open_bytes
from elman.errors import DataError

_SAMPLE = 1 << 18  # bytes that the guess is made from
# In the order of how often they are met: short texts fit several, and the guess is then the first of those.
_CANDIDATES = ("cp1252", "latin_1", "cp1251", "koi8_r", "cp1250", "iso8859_2", "shift_jis", "euc_jp", "gb18030", "big5",
               "euc_kr", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257")  # fmt: skip
_MEND = "set dataset.encoding in params.yaml to the codec that you know it has"


def detect_encoding(paths: Iterable[Path], *, name: str) -> str:
    """The one codec that reads all of `paths`.

    Args:
        paths: Files that belong together: one file, or the documents of a folder.
        name: What errors call them.

    Raises:
        DataError: They mix encodings, are nearly UTF-8 (a guess would garble every good line), or nothing fits.
    """
    valid, invalid, sample = 0, 0, bytearray()  # lines with bytes above 127: UTF-8, and not
    first_invalid = ""
    for path in paths:
        if (marked := bom_encoding(path)) is not None:
            return marked
        with open_bytes(path) as file:
            for number, line in enumerate(file, start=1):
                if line.isascii():
                    continue
                if _is_utf8(line):
                    valid += 1
                    continue
                invalid += 1
                first_invalid = first_invalid or f"{path.name}, line {number}"
                if len(sample) < _SAMPLE:
                    sample += line[:_SAMPLE]
    if invalid == 0:
        return "utf-8-sig"
    if valid > invalid:
        raise DataError(
            f"{name}: {valid:,} lines are UTF-8, {invalid:,} are not (first: {first_invalid}); mend those, or {_MEND}"
        )
    return _guess(bytes(sample), name=name)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _guess(sample: bytes, *, name: str) -> str:
    """The library's best match; among equals the codec that is met most often, not the first of the alphabet."""
    from charset_normalizer import from_bytes  # slow to import, and most data is UTF-8

    matches = from_bytes(sample, cp_isolation=list(_CANDIDATES))
    rated = [
        (round(match.chaos, 2), -round(match.coherence, 1), _CANDIDATES.index(codec))
        for match in matches
        for codec in match.could_be_from_charset
        if codec in _CANDIDATES
    ]
    if not rated:
        raise DataError(f"{name}: is not UTF-8, and no other encoding was recognised; {_MEND}")
    return _CANDIDATES[min(rated)[2]]
