"""Stage prepare: from the user's files to clean train, valid and test tables, with every row accounted for."""

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elman.artifacts import scratch_folder, write_json
from elman.config import DatasetConfig, PrepareConfig
from elman.data.collecting import Collector
from elman.data.labels import label_map
from elman.data.leaks import Leaks
from elman.data.lengths import length_quantiles
from elman.data.reading.dataset import Dataset, open_dataset
from elman.data.reading.encoding import shown_codec
from elman.data.splits import SPLITS
from elman.data.tables import REJECTS_SCHEMA, Rejects, RowBuffer
from elman.errors import DataError

SUMMARY_VERSION = 1


def prepare(*, dataset: DatasetConfig, cleaning: PrepareConfig, out: Path) -> dict[str, Any]:
    """Reads, cleans and splits the text; writes the tables, the label map and a summary, or none of them.

    Args:
        dataset: What is read and how it is split.
        cleaning: What is changed in a text, how many rows may be rejected, and how much of a split train may hold.
        out: Folder that gets train, valid, test, rejects and leaks.parquet, labels.json and summary.json.

    Returns:
        What summary.json holds.

    Raises:
        DataError: A source cannot be read, too many rows are rejected, or a split stays empty.
        LeakageError: Too much of valid or test stands in train; leaks.parquet, which lists it, is all that is written.
        LabelError: Labels are written in two ways, unknown to train, or fewer than two.
    """
    opened = open_dataset(dataset)
    with scratch_folder(out / "prepare") as folder, ExitStack() as stack:
        rejects = Rejects(stack.enter_context(RowBuffer(folder / "rejects.parquet", REJECTS_SCHEMA)))
        collector = Collector(
            folder, rejects=rejects, cleaning=cleaning, rule=opened.rule, label_column=dataset.label_column
        )
        with collector:
            for source, row in opened.rows():
                collector.add(row, own_split=source.split, blank_is_separator=source.format == "lines")
        _check_rejects(collector, limit=cleaning.max_rejected_fraction, path=dataset.path)
        leaks = Leaks(folder, collector.digests)
        repeated = collector.count_repeated(drop=cleaning.repeats == "remove")
        leaks.find_near()
        leaks.check(limit=cleaning.max_leaked_fraction, path=out / "leaks.parquet")
        _check_splits(collector, opened)
        stack.close()  # rejects.parquet is whole from here on
        labels = _label_map(collector, dataset=dataset, out=out)
        leaks.write(folder / "leaks.parquet")
        for file in (*SPLITS, "rejects", "leaks"):
            (folder / f"{file}.parquet").replace(out / f"{file}.parquet")
    overlap: dict[str, dict[str, Any]] = {
        "removed_repeats" if cleaning.repeats == "remove" else "kept_repeats": repeated,
        "overlap_with_train": leaks.summary(),
    }
    summary = _summary(collector, opened, dataset=dataset, overlap=overlap)
    write_json(out / "labels.json", labels)
    write_json(out / "summary.json", summary)
    return summary


def _check_rejects(collector: Collector, *, limit: float, path: str) -> None:
    """Refuses data of which more rows are rejected than the setting allows; blank lines are held against nobody."""
    rejects = collector.rejects
    counted = collector.rows_read - rejects.excused
    faulty = rejects.total - rejects.excused
    if counted == 0:
        raise DataError(f"{path}: holds no rows")
    if faulty > limit * counted:
        lines = [
            f"  {reason} ({rejects.by_reason[reason]:,}): " + "; ".join(examples)
            for reason, examples in rejects.first.items()
        ]
        raise DataError(
            f"{path}: {faulty:,} of {counted:,} rows are rejected, more than prepare.max_rejected_fraction = {limit}; "
            "mend the data, or raise the limit in params.yaml. The first of each reason:\n" + "\n".join(lines)
        )


def _check_splits(collector: Collector, opened: Dataset) -> None:
    """Refuses to go on with an empty split."""
    for split in SPLITS:
        if collector.totals[split].rows:
            continue
        counts = ", ".join(f"{name} {collector.totals[name].rows:,}" for name in SPLITS)
        if split in opened.own_splits:
            reasons = dict(collector.rejects.by_reason)
            raise DataError(
                f"the {split} split of the data has no rows that can be used ({counts}); rejected: {reasons}"
            )
        raise DataError(
            f"the hash of the texts puts no document into {split} ({counts}); add documents, give the splits "
            f"yourself, or raise dataset.valid_fraction and dataset.test_fraction"
        )


def _label_map(collector: Collector, *, dataset: DatasetConfig, out: Path) -> dict[str, Any]:
    found: list[str] = []
    if collector.labels is not None:
        collector.labels.check(classifier="classifier" in dataset.tasks)
        found = collector.labels.names("train")
    return label_map(out / "labels.json", dataset=dataset.name, label_column=dataset.label_column, found=found)


def _summary(
    collector: Collector, opened: Dataset, *, dataset: DatasetConfig, overlap: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """The numbers of this run; lists are for people, since `dvc metrics` shows single values only."""
    used, rejected = sum(totals.rows for totals in collector.totals.values()), collector.rejects.total
    assert collector.rows_read == used + rejected, "every row is used or rejected"
    codecs = {name: shown_codec(codec) for name, codec in opened.encodings.items()}
    return {
        "version": SUMMARY_VERSION,
        "dataset": dataset.name,
        "rows_read": collector.rows_read,
        "rows_used": used,
        "rows_rejected": rejected,
        "rejected": dict(sorted(collector.rejects.by_reason.items())),
        "splits": {
            split: {
                **asdict(collector.totals[split]),
                "repeated_inside": collector.digests.repeated_inside(split),
            }
            for split in SPLITS
        },
        **overlap,
        "texts_changed_by_cleaning": collector.texts_changed,
        "texts_with_replacement_characters": collector.replacement_characters,
        "num_labels": 0 if collector.labels is None else len(collector.labels.names("train")),
        "encoding": ", ".join(sorted(set(codecs.values()))),
        "document_words": [{"split": split, **length_quantiles(collector.lengths(split))} for split in SPLITS],
        "labels": [] if collector.labels is None else collector.labels.table(),
        "sources": [
            {"name": source.name, "format": source.format, "encoding": codecs[source.name]}
            for source in opened.sources.read
        ],
        "ignored_files": list(opened.sources.ignored),
    }
