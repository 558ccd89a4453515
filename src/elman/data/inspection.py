"""A look at the first rows of every source: what `elman check` says about the data within seconds."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from elman.config import DatasetConfig
from elman.data.labels import LabelCounter
from elman.data.reading.dataset import Dataset, open_dataset
from elman.data.reading.encoding import shown_codec
from elman.data.reading.reader import read_rows
from elman.data.reading.rows import RawRow, shown
from elman.data.reading.sources import Source
from elman.errors import DataError


@dataclass(frozen=True, kw_only=True)
class SourceView:
    """One source as its first rows show it.

    Attributes:
        split: The split that its name or a setting gives; None where rows are split by a column or by hash.
        rows_seen: Rows looked at.
        complete: Whether these are all of its rows.
        rejected: Rows looked at that cannot be used, by reason.
        first_text: The first usable text, shortened and quoted.
    """

    name: str
    format: str
    encoding: str
    split: str | None
    rows_seen: int
    complete: bool
    rejected: dict[str, int]
    first_text: str


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What the first rows of the data show.

    Attributes:
        own_splits: The splits that the data brings; the others are made by a hash of the text.
        labels: Rows looked at by label; empty for text without labels.
        ignored_files: Names in the folder that are not read.
    """

    path: str
    sources: tuple[SourceView, ...]
    own_splits: tuple[str, ...]
    valid_fraction: float
    test_fraction: float
    labels: dict[str, int]
    ignored_files: tuple[str, ...]


def inspect(*, dataset: DatasetConfig, rows: int = 1_000) -> Inspection:
    """Looks at the first rows of each source; nothing is written.

    Args:
        dataset: The section of params.yaml.
        rows: Rows of each source that are looked at.

    Raises:
        DataError: A source cannot be read as the section says, or none of its first rows can be used.
        LabelError: Labels are written in two ways, or valid or test holds one that a wholly read train lacks.
    """
    opened = open_dataset(dataset)
    labels = None if dataset.label_column is None else LabelCounter(label_column=dataset.label_column)
    counts: Counter[str] = Counter()
    views = tuple(_look(source, opened, rows=rows, labels=labels, counts=counts) for source in opened.sources.read)
    if labels is not None:
        train_is_whole = all(view.complete for view in views if view.split in ("train", None))
        if opened.own_splits and train_is_whole:
            labels.check(classifier="classifier" in dataset.tasks)
        else:
            labels.check_spelling()
    return Inspection(
        path=dataset.path,
        sources=views,
        own_splits=tuple(sorted(opened.own_splits)),
        valid_fraction=opened.rule.valid_fraction,
        test_fraction=opened.rule.test_fraction,
        labels=dict(counts.most_common()),
        ignored_files=opened.sources.ignored,
    )


def _look(
    source: Source, opened: Dataset, *, rows: int, labels: LabelCounter | None, counts: Counter[str]
) -> SourceView:
    codec = opened.encodings[source.name]
    stream = read_rows(source, columns=opened.columns, encoding=codec)
    seen = list(islice(stream, rows))
    complete = next(stream, None) is None
    rejected: Counter[str] = Counter()
    usable: list[RawRow] = []
    for row in seen:
        reason = row.reason or _reason(row, labelled=labels is not None)
        if reason is not None:
            rejected[reason] += 1
            continue
        usable.append(row)
        if labels is not None and row.label is not None:
            labels.add(row, split=row.split or source.split or "train")
            counts[row.label] += 1
    if not usable:
        first = next((f": {row.reason} {row.detail}" for row in seen if row.reason), "")
        raise DataError(f"{source.name}: none of its first {len(seen)} rows can be used ({dict(rejected)}){first}")
    return SourceView(
        name=source.name,
        format=source.format,
        encoding=shown_codec(codec),
        split=source.split,
        rows_seen=len(seen),
        complete=complete,
        rejected=dict(rejected),
        first_text=shown(usable[0].text or ""),
    )


def _reason(row: RawRow, *, labelled: bool) -> str | None:
    if row.text is None or not row.text.strip():
        return "empty"
    return "missing_label" if labelled and (row.label is None or not row.label.strip()) else None
