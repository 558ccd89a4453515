"""Labels: counted while rows stream by, refused where two spellings mean one, and numbered once and for all."""

import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

from elman.artifacts import read_json
from elman.data.reading.rows import RawRow, shown
from elman.data.splits import SPLITS
from elman.errors import ArtifactError, LabelError

LABELS_VERSION = 1
_MAX_LABELS = 10_000  # more different ones are texts or numbers, not classes
_MAX_PLACES = 3  # rows that an error names for each label
_MAX_LISTED = 20  # labels that an error names


class LabelCounter:
    """How often each label stands in each split, and in which rows it was first met."""

    def __init__(self, *, label_column: str) -> None:
        self._column = label_column
        self._counts: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
        self._places: dict[tuple[str, str | None, str], list[str]] = {}

    def add(self, row: RawRow, *, split: str) -> None:
        """Counts one used row.

        Raises:
            LabelError: There are so many different labels that the column cannot be one of labels.
        """
        assert row.label is not None, "rows without a label are rejected before"
        self._counts[split][row.label] += 1
        places = self._places.setdefault((row.label, row.label_type, split), [])
        if len(places) < _MAX_PLACES:
            places.append(f"{row.source} row {row.number}")
        if len(self._places) > _MAX_LABELS:
            raise LabelError(
                f"the column {self._column!r} holds over {_MAX_LABELS:,} different labels, the last in "
                f"{row.source} row {row.number}: {shown(row.label)}; set dataset.label_column to a column of classes"
            )

    def removed(self, label: str, *, split: str) -> None:
        """Takes back one row that was counted in `split`."""
        self._counts[split][label] -= 1

    def names(self, split: str) -> list[str]:
        """The labels that stand in a split, sorted."""
        return sorted(label for label, count in self._counts[split].items() if count > 0)

    def table(self) -> list[dict[str, Any]]:
        """One entry for each label: its name and its number of rows in each split."""
        names = sorted({name for split in SPLITS for name in self.names(split)})
        return [{"label": name, **{split: self._counts[split][name] for split in SPLITS}} for name in names]

    def check(self, *, classifier: bool) -> None:
        """Refuses labels that a model could not learn or that are written in two ways.

        Raises:
            LabelError: With the labels and rows that are at fault, all kinds of faults at once.
        """
        problems = [*self._spaces(), *self._spellings(), *self._unknown()]
        if not problems and classifier and len(self.names("train")) < 2:
            only = ", ".join(shown(name) for name in self.names("train"))
            problems = [f"train has the single label {only}; a classifier needs two or more. Set dataset.tasks"]
        self._refuse(problems)

    def check_spelling(self) -> None:
        """Refuses labels that are written in two ways; for rows of which others are still unread.

        Raises:
            LabelError: With the labels and rows that are at fault.
        """
        self._refuse([*self._spaces(), *self._spellings()])

    def _refuse(self, problems: list[str]) -> None:
        if not problems:
            return
        more = [f"... and {len(problems) - _MAX_LISTED} more"] if len(problems) > _MAX_LISTED else []
        lines = "\n".join(f"  {line}" for line in [*problems[:_MAX_LISTED], *more])
        raise LabelError(f"labels of the column {self._column!r} cannot be used; mend the data:\n{lines}")

    def _rows(self, label: str, *, split: str | None = None, label_type: str | None = None) -> str:
        found = [
            place
            for (name, stored, where), places in self._places.items()
            if name == label and split in (None, where) and label_type in (None, stored)
            for place in places
        ]
        return ", ".join(found[:_MAX_PLACES]) + (", ..." if len(found) > _MAX_PLACES else "")

    def _all(self) -> list[str]:
        return sorted({label for label, _, _ in self._places})

    def _spaces(self) -> list[str]:
        return [
            f"{shown(label)} ({self._rows(label)}) has white space around it"
            for label in self._all()
            if label != label.strip()
        ]

    def _spellings(self) -> list[str]:
        """Labels that look the same: stored as number and as string, or composed of other characters."""
        problems = []
        types: dict[str, set[str]] = {}
        for label, stored, _ in self._places:
            types.setdefault(label, set()).update(() if stored is None else (stored,))
        for label in self._all():
            if len(types[label]) > 1:
                where = " and ".join(
                    f"as {kind} in {self._rows(label, label_type=kind)}" for kind in sorted(types[label])
                )
                problems.append(f"{shown(label)} is stored {where}")
        looks: dict[str, list[str]] = {}
        for label in self._all():
            looks.setdefault(" ".join(unicodedata.normalize("NFKC", label).split()), []).append(label)
        for alike in looks.values():
            inner = [label for label in alike if label == label.strip()]  # the others are named by _spaces
            if len(inner) > 1:
                problems.append("written in two ways: " + ", ".join(f"{x!a} ({self._rows(x)})" for x in inner))
        return problems

    def _unknown(self) -> list[str]:
        known = set(self.names("train"))
        return [
            f"{shown(label)} stands in {split} ({self._rows(label, split=split)}) but not in train"
            for split in SPLITS[1:]
            for label in self.names(split)
            if label not in known
        ]


def label_map(path: Path, *, dataset: str, label_column: str | None, found: list[str]) -> dict[str, Any]:
    """The content of labels.json: old labels keep their numbers, new ones come after them in sorted order.

    Args:
        path: The labels.json of an earlier run; it need not be there.
        dataset: Name of the data set; another one starts a new map.
        label_column: Name of the label column; another one starts a new map.
        found: Labels of the train split.

    Raises:
        ArtifactError: The earlier file is damaged or of another version.
    """
    old: list[str] = []
    if path.exists():
        earlier = read_json(path)
        if not isinstance(earlier, dict) or earlier.get("version") != LABELS_VERSION:
            raise ArtifactError(f"{path}: not a label map of version {LABELS_VERSION}; move it away to number anew")
        if (earlier.get("dataset"), earlier.get("label_column")) == (dataset, label_column):
            old = earlier["labels"]
    labels = [*old, *sorted(set(found) - set(old))]
    return {"version": LABELS_VERSION, "dataset": dataset, "label_column": label_column, "labels": labels}
