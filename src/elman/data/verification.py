"""Whether a text that a user brings is the one that published figures rest on, and is counted as they were."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman.data.catalog import KnownText
from elman.errors import DataError


def verify_files(folder: Path, known: KnownText) -> None:
    """Checks that `folder` holds the files of a known text, byte for byte.

    Raises:
        DataError: A file is missing, or its MD5 sum is another one; each such file is named.
    """
    wrong = []
    for name, expected in known.files.items():
        path = folder / name
        if not path.is_file():
            found = sorted(entry.name for entry in folder.iterdir())[:10] if folder.is_dir() else "no such folder"
            wrong.append(f"{path}: missing, expected MD5 {expected}; in {folder}: {found}")
            continue
        digest = md5_file(path)
        if digest != expected:
            wrong.append(f"{path}: MD5 {digest}, expected {expected}")
    if wrong:
        raise DataError(
            f"not the {known.name} that figures were published for ({known.origin}):\n"
            + "\n".join(f"  {line}" for line in wrong)
        )


def verify_counts(encoded: Mapping[str, Any], known: KnownText) -> None:
    """Checks that cleaning and tokenizer left every token where it was.

    Args:
        encoded: summary.json of the encode stage.
        known: The text.

    Raises:
        DataError: A split has another number of targets, or the vocabulary another size than types, pad and bos need.
    """
    pairs = [(f"tokens of {split}", count, encoded[split]["tokens"]) for split, count in known.tokens.items()]
    pairs.append(("vocabulary (types, pad and bos)", known.types + 2, encoded["vocab_size"]))
    wrong = [f"{name}: {found:,}, expected {expected:,}" for name, expected, found in pairs if found != expected]
    if wrong:
        raise DataError(
            f"{known.name} is not counted as in the publications: {'; '.join(wrong)}. The preset needs "
            f"prepare.repeats: keep, prepare.lowercase: false, tokenizer.model: word and "
            f"tokenizer.vocab_size: {known.types + 2}"
        )


def md5_file(path: Path) -> str:
    """The file's MD5 sum: no guard against malice, but what publications give."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
