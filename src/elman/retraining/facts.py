"""What is written down of accepted data, so that the next data can be held against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True)
class DataFacts:
    """One state of the data, in numbers.

    Attributes:
        path: Where it was read from, for messages.
        columns: Names of the raw columns; empty where the format has none, or where they are not known.
        encodings: Codecs that the sources were read with, sorted.
        rows: Rows used (all splits).
        rejected: Rows that could not be used.
        labels: Rows of each label; empty for text without labels.
        duplicates: Rows whose text repeats an earlier one, in any split.
        replacement_texts: Texts that hold U+FFFD.
        garbled_texts: Texts that look like UTF-8 read with another codec.
        digests: uint64 (D,). Sorted hashes of the different texts, or of the share 1 / 2**digest_shift of them.
        digest_shift: 0: all texts.
    """

    path: str
    columns: tuple[str, ...]
    encodings: tuple[str, ...]
    rows: int
    rejected: int
    labels: Mapping[str, int]
    duplicates: int
    replacement_texts: int
    garbled_texts: int
    digests: npt.NDArray[np.uint64]
    digest_shift: int

    @property
    def duplicate_share(self) -> float:
        """Share of the rows that repeat an earlier one."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Strict JSON; `from_json` reads it."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: Any) -> "DataFacts":
        """Reads what `to_json` wrote.

        Raises:
            ArtifactError: It is something else, or of another version.
        """
        raise NotImplementedError


def facts_of(prepared: Path, *, path: str, columns: Sequence[str] = ()) -> DataFacts:
    """The facts of data that the prepare stage read.

    Args:
        prepared: Folder with train, valid and test.parquet and summary.json.
        path: Where the raw data is, for messages.
        columns: Names of the raw columns, where the format has some (see `raw_columns`).

    Raises:
        ArtifactError: A file is missing or damaged.
    """
    raise NotImplementedError


def new_rows(new: DataFacts, accepted: DataFacts | None) -> int:
    """How many different texts of `new` the accepted data lacks; an estimate where digests are a sample."""
    raise NotImplementedError
