"""What is written down of accepted data, so that the next data can be held against it."""

import base64
import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.artifacts import read_batches, read_json
from elman.data.duplicates import text_digest
from elman.data.splits import SPLITS
from elman.errors import ArtifactError

FACTS_VERSION = 1
MAX_DIGESTS = 200_000  # 1.6 MB; of more texts an even share is kept

# UTF-8 that was read as Latin-1 or Windows-1252: the first byte of a character, then one that can only follow. The two
# angled quotes may stand behind a letter in sound text.
_GARBLED = re.compile("[\u00c2-\u00f4][\u00a1-\u00aa\u00ac-\u00ba\u00bc-\u00bf]|\u00e2\u20ac")


@dataclass(frozen=True, kw_only=True)
class DataFacts:
    """One state of the data, in numbers.

    Attributes:
        path: Where it was read from, for messages.
        columns: Names of the raw columns; empty where the format has none, or where they are not known.
        encodings: Codecs that the sources were read with, sorted.
        rows: Usable rows of all splits, those included that were taken out because another split holds them too.
        rejected: Rows that could not be used.
        labels: Rows of each label; empty for text without labels.
        duplicates: Usable rows whose text repeats another one, in any split.
        replacement_texts: Texts that hold U+FFFD, which a program puts where it cannot decode.
        garbled_texts: Texts that look like UTF-8 read with another codec.
        digests: uint64 (D,). Sorted hashes of the different texts, or of one in 2**digest_shift of them.
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
        """Share of the usable rows that repeat another one."""
        return self.duplicates / self.rows if self.rows else 0.0

    @property
    def damaged_share(self) -> float:
        """Share of the usable rows in which characters were lost or read with a wrong codec."""
        return (self.replacement_texts + self.garbled_texts) / self.rows if self.rows else 0.0

    def to_json(self) -> dict[str, Any]:
        """Strict JSON; `from_json` reads it."""
        value = {name: getattr(self, name) for name in self.__dataclass_fields__}
        value["columns"], value["encodings"] = list(self.columns), list(self.encodings)
        value["labels"] = dict(self.labels)
        value["digests"] = base64.b64encode(self.digests.astype("<u8").tobytes()).decode("ascii")
        return {"version": FACTS_VERSION, **value}

    @classmethod
    def from_json(cls, value: Any) -> "DataFacts":
        """Reads what `to_json` wrote.

        Raises:
            ArtifactError: It is something else, or of another version.
        """
        try:
            if value["version"] != FACTS_VERSION:
                raise ValueError(f"version {FACTS_VERSION} is needed, found {value['version']!r}")
            given = {name: value[name] for name in cls.__dataclass_fields__}
            given["columns"], given["encodings"] = tuple(given["columns"]), tuple(given["encodings"])
            digests = np.frombuffer(base64.b64decode(given["digests"], validate=True), dtype="<u8")
            given["digests"] = digests.astype(np.uint64)
            return cls(**given)
        except (KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"not the facts of a data set ({error!r}); delete the record of the data") from None


def facts_of(prepared: Path, *, path: str, columns: Sequence[str] = ()) -> DataFacts:
    """The facts of data that the prepare stage read.

    Args:
        prepared: Folder with train, valid and test.parquet and summary.json.
        path: Where the raw data is, for messages.
        columns: Names of the raw columns, from `elman.data.reading.raw_columns.raw_columns`.

    Raises:
        ArtifactError: A file is missing or damaged.
    """
    digests, labels = array("Q"), Counter[str]()
    replacements = garbled = 0
    for split in SPLITS:
        for batch in read_batches(prepared / f"{split}.parquet", columns=["text", "label"]):
            texts: list[str] = batch.column("text").to_pylist()
            digests.extend(text_digest(text) for text in texts)
            labels.update(label for label in batch.column("label").to_pylist() if label is not None)
            replacements += sum("\ufffd" in text for text in texts)
            garbled += sum(not text.isascii() and _GARBLED.search(text) is not None for text in texts)
    summary = read_json(prepared / "summary.json")
    removed = sum(count for reason, count in summary["rejected"].items() if reason.startswith("stands_in_"))
    different = np.unique(np.array(digests, dtype=np.uint64))
    shift = _shift(len(different))
    return DataFacts(
        path=path,
        columns=tuple(columns),
        encodings=tuple(sorted({source["encoding"] for source in summary["sources"]})),
        rows=len(digests) + removed,
        rejected=summary["rows_rejected"] - removed,
        labels=dict(sorted(labels.items())),
        duplicates=len(digests) - len(different) + removed,
        replacement_texts=replacements,
        garbled_texts=garbled,
        digests=_share(different, shift),
        digest_shift=shift,
    )


def new_rows(new: DataFacts, accepted: DataFacts | None) -> int:
    """How many different texts of `new` the accepted data lacks.

    Exact while both hold all digests. Else both are thinned to the same share of the digests' values, so that a text
    that both hold is kept in both or in neither, and the count is scaled up.
    """
    shift = max(new.digest_shift, 0 if accepted is None else accepted.digest_shift)
    ours = _share(new.digests, shift)
    known = np.zeros(0, np.uint64) if accepted is None else _share(accepted.digests, shift)
    return int(np.count_nonzero(~np.isin(ours, known))) << shift


def _shift(texts: int) -> int:
    """How many low bits have to be 0 so that about `MAX_DIGESTS` of the texts are left at most."""
    return max(0, (texts - 1) // MAX_DIGESTS).bit_length()


def _share(digests: npt.NDArray[np.uint64], shift: int) -> npt.NDArray[np.uint64]:
    """The digests whose `shift` lowest bits are 0: one in 2**shift, the same ones of any data."""
    kept: npt.NDArray[np.uint64] = digests[digests & np.uint64((1 << shift) - 1) == 0]
    return kept
