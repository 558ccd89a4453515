"""Whether new data may be used at all, held against the data that was accepted last."""

from collections.abc import Iterable

from elman.config import RetrainingConfig
from elman.retraining.facts import DataFacts

MAX_DAMAGED_RISE = 0.01  # of the share of texts with lost or wrongly decoded characters
_MAX_NAMED = 10  # labels or columns that one sentence names


def problems(new: DataFacts, accepted: DataFacts | None, config: RetrainingConfig) -> list[str]:
    """What is wrong with new data, a sentence each; none: it may be used.

    A column that has gone stops the job, a column that has come does not, since nothing reads it. A label that has come
    or gone stops it: nobody retrains a year of models on a misspelled class without having looked. A person allows it
    by name in `label_changes`.

    Args:
        new: The data that came.
        accepted: The data that was accepted last; None at the first time, when there is nothing to hold it against.
        config: max_row_drop, max_duplicate_rise and label_changes.
    """
    if accepted is None:
        return []
    return [
        f"{new.path}: {problem}"
        for problem in (
            *_columns(new, accepted),
            *_rows(new, accepted, config),
            *_labels(new, accepted, config),
            *_encoding(new, accepted),
            *_duplicates(new, accepted, config),
        )
    ]


def _columns(new: DataFacts, accepted: DataFacts) -> list[str]:
    gone = [name for name in accepted.columns if name not in new.columns]
    if not gone:
        return []
    return [
        f"the columns {_named(gone)} of the data accepted last are gone, and it has {_named(new.columns)}; put them "
        "back under their names"
    ]


def _rows(new: DataFacts, accepted: DataFacts, config: RetrainingConfig) -> list[str]:
    if new.rows >= (1.0 - config.max_row_drop) * accepted.rows:
        return []
    return [
        f"{new.rows:,} usable rows (and {new.rejected:,} rejected) after {accepted.rows:,} accepted last: "
        f"{1.0 - new.rows / accepted.rows:.1%} fewer, and {config.max_row_drop:.1%} is allowed "
        "(retraining.max_row_drop); is the file whole?"
    ]


def _labels(new: DataFacts, accepted: DataFacts, config: RetrainingConfig) -> list[str]:
    allowed = "; mend the data, or name them in retraining.label_changes if that is meant"
    found = []
    come = [name for name in new.labels if name not in accepted.labels and name not in config.label_changes]
    if come:
        counted = [f"{name!r} ({new.labels[name]:,} rows)" for name in come]
        found.append(f"the data accepted last had no label {_joined(counted)}{allowed}")
    gone = [name for name in accepted.labels if name not in new.labels and name not in config.label_changes]
    if gone:
        counted = [f"{name!r} ({accepted.labels[name]:,} rows)" for name in gone]
        found.append(f"no row has the label {_joined(counted)} of the data accepted last{allowed}")
    return found


def _encoding(new: DataFacts, accepted: DataFacts) -> list[str]:
    found = []
    others = [name for name in new.encodings if name not in accepted.encodings]
    if others:
        found.append(
            f"it is read as {_joined(others)}, and the data accepted last was read as "
            f"{_joined(accepted.encodings)}; write it as before, or name its codec in dataset.encoding"
        )
    if new.damaged_share > accepted.damaged_share + MAX_DAMAGED_RISE:
        found.append(
            f"{new.replacement_texts:,} texts hold U+FFFD and {new.garbled_texts:,} look like UTF-8 read with another "
            f"codec: {new.damaged_share:.1%} of the rows, after {accepted.damaged_share:.1%} accepted last, and a rise "
            f"of {MAX_DAMAGED_RISE:.0%} is allowed; mend the file, or name its codec in dataset.encoding"
        )
    return found


def _duplicates(new: DataFacts, accepted: DataFacts, config: RetrainingConfig) -> list[str]:
    if new.duplicate_share <= accepted.duplicate_share + config.max_duplicate_rise:
        return []
    return [
        f"{new.duplicate_share:.1%} of the rows repeat another one, after {accepted.duplicate_share:.1%} accepted "
        f"last, and a rise of {config.max_duplicate_rise:.1%} is allowed (retraining.max_duplicate_rise)"
    ]


def _named(names: Iterable[str]) -> str:
    return _joined([repr(name) for name in names])


def _joined(parts: Iterable[str]) -> str:
    listed = list(parts)
    more = [f"{len(listed) - _MAX_NAMED} more"] if len(listed) > _MAX_NAMED else []
    return ", ".join([*listed[:_MAX_NAMED], *more]) or "none"
