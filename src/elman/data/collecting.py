"""The one pass over the raw rows: each is cleaned and put into a split, or rejected with its reason."""

from array import array
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from elman.config import PrepareConfig
from elman.data.cleaning import clean_text
from elman.data.duplicates import Digests, text_digest
from elman.data.labels import LabelCounter
from elman.data.reading.rows import RawRow, shown
from elman.data.splits import SPLITS, SplitRule
from elman.data.tables import PREPARED_SCHEMA, Rejects, RowBuffer, copy_without

# A document that stands in two splits goes from the first of a pair: what is learned from must not hold what is tested.
_REPEATS = (("train", ("test", "valid")), ("valid", ("test",)))


@dataclass(slots=True)
class Totals:
    """What a split holds; words are what white space separates, bytes are those of UTF-8."""

    rows: int = 0
    words: int = 0
    bytes: int = 0


class Collector:
    """Writes `<split>.parquet` tables into a folder while rows come in.

    Memory holds a digest and a length of each document and a few batches of text.

    Attributes:
        labels: The labels of the used rows; None for text without labels.
        digests: Hashes of the used documents, in the order of the tables' rows.
        totals: What each split holds.
        texts_changed: Used documents that cleaning changed.
        replacement_characters: Used documents that hold U+FFFD, which an earlier program put where it could not decode.
    """

    def __init__(
        self, folder: Path, *, rejects: Rejects, cleaning: PrepareConfig, rule: SplitRule, label_column: str | None
    ) -> None:
        self.rejects = rejects
        self.labels = None if label_column is None else LabelCounter(label_column=label_column)
        self.digests = Digests(SPLITS)
        self.rows_read = 0
        self.totals = {split: Totals() for split in SPLITS}
        self.texts_changed = 0
        self.replacement_characters = 0
        self._lengths = {split: array("I") for split in SPLITS}
        self._folder = folder
        self._clean: dict[str, Any] = cleaning.model_dump(include={"unicode_form", "lowercase", "whitespace"})
        self._collapsed = cleaning.whitespace == "collapse"
        self._rule = rule
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._buffers = {
            split: self._stack.enter_context(RowBuffer(self._folder / f"{split}.parquet", PREPARED_SCHEMA))
            for split in SPLITS
        }
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def add(self, row: RawRow, *, own_split: str | None, blank_is_separator: bool) -> None:
        """Takes in one raw row.

        Args:
            row: From a reader.
            own_split: The split that the row's file gives, where the row itself gives none.
            blank_is_separator: Whether a blank row is how this format spaces documents, and no fault.
        """
        self.rows_read += 1
        own = row.split or own_split
        if row.reason is not None:
            self.rejects.add(row, row.reason, row.detail, split=own, excused=row.reason == "blank_line")
            return
        assert row.text is not None, "a reader gives a text or a reason"
        text = clean_text(row.text, **self._clean)
        if not text:
            excused = blank_is_separator and (not row.text or row.text.isspace())
            self.rejects.add(row, "empty", "" if not row.text else shown(row.text), split=own, excused=excused)
            return
        if self.labels is not None and (row.label is None or not row.label.strip()):
            self.rejects.add(row, "missing_label", shown(text), split=own)
            return
        try:
            digest = text_digest(text, collapsed=self._collapsed)
        except UnicodeEncodeError as error:
            self.rejects.add(row, "invalid_unicode", f"{error.reason}: {shown(ascii(text))}", split=own)
            return
        self._keep(row, text, split=self._rule.side(own, digest), digest=digest)

    def _keep(self, row: RawRow, text: str, *, split: str, digest: int) -> None:
        label = None
        if self.labels is not None:
            self.labels.add(row, split=split)
            label = row.label
        self._buffers[split].append(self.totals[split].rows, text, label, row.source, row.number, size=len(text))
        self.digests.add(split, digest)
        self._lengths[split].append(self._words(text))
        self._count(text, split=split, sign=1)
        self.texts_changed += text != row.text
        self.replacement_characters += "\ufffd" in text

    def _count(self, text: str, *, split: str, sign: int) -> None:
        totals = self.totals[split]
        totals.rows += sign
        totals.words += sign * self._words(text)
        totals.bytes += sign * (len(text) if text.isascii() else len(text.encode()))

    def _words(self, text: str) -> int:
        return text.count(" ") + 1 if self._collapsed else len(text.split())

    def lengths(self, split: str) -> npt.NDArray[np.uint32]:
        """The words of each document of a split, in row order; uint32 (documents,)."""
        values = self._lengths[split]
        return np.frombuffer(values, dtype=np.uint32) if values else np.zeros(0, dtype=np.uint32)

    def count_repeated(self, *, drop: bool) -> dict[str, int]:
        """What of train also stands in valid or test, and what of valid also stands in test.

        Called after the `with` block: the tables are whole then.

        Args:
            drop: Whether these rows are taken out; else they are only counted.

        Returns:
            The number of rows, keyed by "train" and "valid".
        """
        repeated = {}
        for split, others in _REPEATS:
            standing = self.digests.standing_in(split, others)
            repeated[split] = int(np.count_nonzero(standing))
            if drop and repeated[split]:
                self._rewrite(split, others, standing)
        return repeated

    def _rewrite(self, split: str, others: tuple[str, ...], standing: npt.NDArray[np.int8]) -> None:
        """Writes a split's table again without the rows that stand in another split."""

        def dropped(number: int, row: dict[str, Any]) -> None:
            raw = RawRow(row["source"], row["source_row"])
            self.rejects.add(raw, f"stands_in_{others[standing[number] - 1]}", "", split=split, excused=True)
            self._count(row["text"], split=split, sign=-1)
            if self.labels is not None:
                self.labels.removed(row["label"], split=split)

        path = self._folder / f"{split}.parquet"
        copy_without(path, path, standing > 0, dropped=dropped)
        self.digests.drop(split, standing > 0)
        self._lengths[split] = array("I", self.lengths(split)[standing == 0].tobytes())
