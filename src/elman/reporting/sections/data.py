"""What the numbers rest on: the rows read, the splits, and what stands in two of them."""

from html import escape

from elman.reporting.facts import (
    SPLITS,
    data_facts,
    data_sentence,
    label_table,
    length_sentence,
    length_table,
    split_table,
)
from elman.reporting.html import definitions, folded, remark, section, table
from elman.reporting.inputs import ReportInputs

_OPEN_LABELS = 10  # more of them are folded away
_COPIES = (
    "An exact copy has the same words, apart from case and spacing, and is counted before it is taken out; a near copy "
    "shares at least 0.9 of its words and 0.3 of its 5-grams with a document of train."
)


def data_section(inputs: ReportInputs) -> str:
    """Counts by split and by label, and what happened on the way from the files to the splits."""
    task = inputs.comparison["task"]
    tables = [_by_split(split_table(task, inputs.prepared, inputs.encoded))]
    if task == "classifier" and inputs.prepared.get("labels"):
        tables.append(_labels(label_table(inputs.prepared)))
    return section(
        "Data",
        f"<p>{escape(data_sentence(inputs.prepared))}</p>",
        f'<div class="columns">{"".join(f"<div>{part}</div>" for part in tables)}</div>',
        folded(length_sentence(inputs.prepared), _by_split(length_table(inputs.prepared, inputs.encoded))),
        *([remark(_COPIES)] if "overlap_with_train" in inputs.prepared else []),
        definitions(data_facts(inputs.prepared, inputs.encoded)),
    )


def _by_split(rows: list[tuple[str, list[str]]]) -> str:
    return table(["", *SPLITS], [[name, *numbers] for name, numbers in rows])


def _labels(rows: list[list[str]]) -> str:
    """Documents by label; a long list is folded away behind its first and its last line."""
    labels = table(["label", *SPLITS], rows)
    if len(rows) <= _OPEN_LABELS:
        return labels
    first, last = rows[0], rows[-1]
    summary = f"{len(rows)} labels, from {first[0]} ({first[1]} of train) to {last[0]} ({last[1]})"
    return folded(summary, labels)
