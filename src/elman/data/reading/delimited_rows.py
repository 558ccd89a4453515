"""TSV without quoting, and CSV by RFC 4180: a row is kept exactly or rejected, and no stray quote swallows others."""

import csv
import sys
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from elman.data.reading.rows import Columns, Positions, RawRow, shown, split_name
from elman.errors import DataError

_MAX_RECORD = 1 << 22  # characters; a quoted field that runs on for longer has lost its end
_HEAD = 1_000  # lines looked at beforehand for the labels that occur
_MIN_UNLABELLED = 3  # lines in a row that read as rows of their own, where no label can tell


class Record(NamedTuple):
    """The fields of one row, or the reason why there are none."""

    fields: list[str]
    first_line: int
    reason: str | None = None
    detail: str = ""
    num_lines: int = 1


def header_of(lines: Iterator[str], *, source: str, quoted: bool) -> list[str]:
    """Takes the header line.

    Raises:
        DataError: There is none, or its quotes do not close.
    """
    line = next(lines, None)
    if line is None or not line.strip():
        raise DataError(f"{source}: the first line is empty; it has to name the columns")
    if not quoted:
        return line.split("\t")
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise DataError(f"{source}: the header line {shown(line)} is not CSV: {error}") from None


def read_tsv(lines: Iterator[str], *, columns: Columns, source: str) -> Iterator[RawRow]:
    """Rows of a plain TSV file: a tab ends a field, a quote is text."""
    header = header_of(lines, source=source, quoted=False)
    positions = columns.positions(header, source=source)
    for number, line in enumerate(lines, start=1):
        record = Record(line.split("\t"), number + 1) if line else _blank(number + 1)
        yield _row(record, number, header=header, positions=positions, source=source)


def read_csv(lines: Iterator[str], *, columns: Columns, source: str) -> Iterator[RawRow]:
    """Rows of a CSV file: quoted fields may hold commas, line ends and doubled quotes."""
    header = header_of(lines, source=source, quoted=True)
    positions = columns.positions(header, source=source)
    records = _records(lines, num_fields=len(header), label_position=positions.label)
    for number, record in enumerate(records, start=1):
        yield _row(record, number, header=header, positions=positions, source=source)


def _row(record: Record, number: int, *, header: list[str], positions: Positions, source: str) -> RawRow:
    """One record as a raw row; `NA`, `null` and the like are text, as they came."""
    fields = record.fields
    if record.reason is not None:
        return RawRow(source, number, reason=record.reason, detail=record.detail)
    if len(fields) != len(header):
        where = f"line {record.first_line}" + (f", {record.num_lines} lines long" if record.num_lines > 1 else "")
        detail = f"{where}: {len(fields)} fields, the header has {len(header)}"
        return RawRow(source, number, reason="field_count", detail=detail)
    label = None if positions.label is None else fields[positions.label]
    if positions.split is None:
        return RawRow(source, number, fields[positions.text], label)
    split = split_name(fields[positions.split])
    if split is None:
        detail = f"line {record.first_line}: {shown(fields[positions.split])} is not train, valid or test"
        return RawRow(source, number, reason="unknown_split", detail=detail)
    return RawRow(source, number, fields[positions.text], label, split)


def _blank(line: int) -> Record:
    return Record([], line, "blank_line", f"line {line}")


def _records(lines: Iterator[str], *, num_fields: int, label_position: int | None) -> Iterator[Record]:
    """Splits lines into records; what an unclosed quote took in is read again, line by line.

    Where a record over several lines does not parse, or where its lines read as rows of their own, the quote at its
    start is the fault: its first line is rejected and the next line starts a new record.
    """
    csv.field_size_limit(sys.maxsize)  # the module's own limit of 128 kB is shorter than real documents
    pending = deque(islice(lines, _HEAD))  # lines that are still to be read, before `lines`
    labels = _labels_seen(pending, num_fields=num_fields, label_position=label_position)
    line_number = 1  # the header's
    while (line := pending.popleft() if pending else next(lines, None)) is not None:
        line_number += 1
        if '"' not in line:
            if not line:
                yield _blank(line_number)
                continue
            fields = line.split(",")
            if label_position is not None and len(fields) == num_fields and len(labels) < _HEAD:
                labels.update(filter(None, fields[label_position : label_position + 1]))
            yield Record(fields, line_number)
            continue
        fields, taken, problem = _quoted(line, pending, lines)
        if not problem and _reads_as_rows(taken, num_fields=num_fields, label_position=label_position, labels=labels):
            problem = f"the quoted field that opens here closes {len(taken) - 1} lines on, over lines that are rows"
        if problem:
            pending.extendleft(reversed(taken[1:]))
            yield Record([], line_number, "unbalanced_quote", f"line {line_number}: {problem}: {shown(line)}")
            continue
        yield Record(fields, line_number, num_lines=len(taken))
        line_number += len(taken) - 1


def _quoted(line: str, pending: deque[str], lines: Iterator[str]) -> tuple[list[str], list[str], str]:
    """Parses one record that holds a quote.

    Returns:
        Its fields, the lines that it took, and what is wrong with it ("" where nothing is).
    """
    taken: list[str] = []
    size = 0

    def feed() -> Iterator[str]:
        nonlocal size
        following: str | None = line
        while following is not None and size <= _MAX_RECORD:
            taken.append(following)
            size += len(following) + 1
            yield following + "\n"
            following = pending.popleft() if pending else next(lines, None)
        if following is not None:
            pending.appendleft(following)

    try:
        return next(csv.reader(feed(), strict=True)), taken, ""
    except csv.Error as error:
        if "unexpected end of data" not in str(error):
            return [], taken, str(error)
        where = "the end of the file" if size <= _MAX_RECORD else f"{_MAX_RECORD:,} characters"
        return [], taken, f"a quoted field opens here and does not close before {where}"


def _labels_seen(lines: deque[str], *, num_fields: int, label_position: int | None) -> set[str]:
    """Labels that stand more than once in rows without a quote; once could be a line of prose with a comma."""
    if label_position is None:
        return set()
    rows = (line.split(",") for line in lines if '"' not in line)
    counts = Counter(fields[label_position] for fields in rows if len(fields) == num_fields)
    return {label for label, count in counts.items() if count > 1 and label}


def _reads_as_rows(taken: list[str], *, num_fields: int, label_position: int | None, labels: set[str]) -> bool:
    """Whether each line of a record but the last reads as a row of its own: then a quote ran away.

    A line of prose that ends in a comma and a label that occurs elsewhere is as good as impossible; without labels
    several lines with just the right number of commas are asked for.
    """
    inner = taken[:-1]
    if not inner or num_fields < 2:
        return False
    rows = [text.split(",") for text in inner]
    if any(len(fields) != num_fields for fields in rows):
        return False
    if label_position is None:
        return len(inner) >= _MIN_UNLABELLED
    return all(fields[label_position].strip('"') in labels for fields in rows)
