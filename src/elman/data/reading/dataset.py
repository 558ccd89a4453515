"""The data set as the `dataset` section of params.yaml names it: its sources, codecs, columns and way to be split."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elman.config import DatasetConfig
from elman.data.reading.reader import read_rows, resolve_encoding
from elman.data.reading.rows import Columns, RawRow
from elman.data.reading.sources import Source, Sources, find_sources
from elman.data.splits import SPLITS, SplitRule, split_rule
from elman.errors import DataError

_WITHOUT_LABELS = ("lines", "blocks")


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """What is read, and how."""

    sources: Sources
    columns: Columns
    encodings: dict[str, str]  # codec by source
    own_splits: frozenset[str]
    rule: SplitRule

    def rows(self) -> Iterator[tuple[Source, RawRow]]:
        """Streams the rows of all sources in a fixed order."""
        for source in self.sources.read:
            for row in read_rows(source, columns=self.columns, encoding=self.encodings[source.name]):
                yield source, row


def open_dataset(dataset: DatasetConfig) -> Dataset:
    """Finds the sources, settles their encodings and the way to split; with a split column the data is read once.

    Raises:
        DataError: The path or a file is missing, of no known format or encoding, holds no labels though
            `label_column` is set, or gives test or valid without train.
    """
    given = {split: name for split in SPLITS if (name := getattr(dataset, split)) is not None}
    sources = find_sources(
        Path(dataset.path), format=dataset.format, splits=given, by_name=dataset.split_column is None
    )
    columns = Columns(text=dataset.text_column, label=dataset.label_column, split=dataset.split_column)
    _check_formats(sources, dataset)
    encodings = {source.name: resolve_encoding(source, dataset.encoding) for source in sources.read}
    own = sources.own_splits
    if dataset.split_column is not None:
        own = _splits_in_column(sources, columns=columns, encodings=encodings)
    if own and "train" not in own:
        raise DataError(f"{dataset.path}: gives the splits {sorted(own)} but no train; name it in dataset.train")
    rule = split_rule(own, valid_fraction=dataset.valid_fraction, test_fraction=dataset.test_fraction)
    return Dataset(sources=sources, columns=columns, encodings=encodings, own_splits=own, rule=rule)


def _check_formats(sources: Sources, dataset: DatasetConfig) -> None:
    for source in sources.read:
        if dataset.label_column is not None and source.format in _WITHOUT_LABELS:
            raise DataError(
                f"{source.name}: {source.format} is text without labels, but dataset.label_column is "
                f"{dataset.label_column!r}; set it to null and dataset.tasks to [language_model], or set dataset.format"
            )
        if dataset.split_column is not None and source.format in (*_WITHOUT_LABELS, "folders"):
            raise DataError(f"{source.name}: {source.format} has no columns; set dataset.split_column to null")


def _splits_in_column(sources: Sources, *, columns: Columns, encodings: dict[str, str]) -> frozenset[str]:
    found: set[str] = set()
    for source in sources.read:
        for row in read_rows(source, columns=columns, encoding=encodings[source.name]):
            if row.split is not None:
                found.add(row.split)
                if len(found) == len(SPLITS):
                    return frozenset(found)
    return frozenset(found)
