"""The data block of a report: what was read, what was left out, and what the splits hold."""

from collections.abc import Mapping
from typing import Any

from elman.reporting.measures import NOT_AVAILABLE, number

SPLITS = ("train", "valid", "test")

_PREPARED = (("documents", "rows"), ("words", "words"), ("bytes", "bytes"))
_ENCODED = (
    ("tokens, eos included", "tokens"),
    ("unknown tokens", "unk_tokens"),
    ("longest document, tokens", "length_max"),
)


def split_table(task: str, prepared: Mapping[str, Any], encoded: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Rows of counts: a name, and one number for each of train, valid and test; only what the task uses."""
    rows = [(name, _counts(prepared.get("splits", {}), key)) for name, key in _PREPARED]
    rows += [(name, _counts(encoded, key)) for name, key in _ENCODED]
    if task == "classifier":  # a language model reads every document to its end
        limit = number(encoded.get("max_length"), 0)
        rows.append((f"documents cut at {limit} tokens", _counts(encoded, "cut_documents")))
    return [(name, numbers) for name, numbers in rows if set(numbers) != {NOT_AVAILABLE}]


def data_facts(prepared: Mapping[str, Any], encoded: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What happened on the way from the files to the splits: a name and a sentence each."""
    facts = []
    if "rows_read" in prepared:
        counts = [number(prepared.get(key), 0) for key in ("rows_read", "rows_used", "rows_rejected")]
        facts.append(("rows", f"{counts[0]} read = {counts[1]} used + {counts[2]} rejected"))
    named = (
        ("rejected, by reason", "rejected"),
        ("taken out of a split as repeats", "removed_repeats"),
        ("kept though they stand in a later split", "kept_repeats"),
    )
    for name, key in named:
        parts = [f"{reason.replace('_', ' ')} {number(count, 0)}" for reason, count in prepared.get(key, {}).items()]
        if parts:
            facts.append((name, ", ".join(parts)))
    near = [
        f"{split} {number(found.get('near_duplicates'), 0)} of {number(found.get('checked'), 0)}"
        for split, found in prepared.get("near_duplicates", {}).items()
    ]
    if near:
        facts.append(("close to a train document", ", ".join(near)))
    if prepared.get("encoding"):
        facts.append(("character encoding", str(prepared["encoding"])))
    if prepared.get("num_labels"):
        facts.append(("labels", number(prepared["num_labels"], 0)))
    if "vocab_size" in encoded:
        facts.append(("vocabulary", f"{number(encoded['vocab_size'], 0)} pieces"))
    return facts


def _counts(splits: Mapping[str, Any], key: str) -> list[str]:
    return [number(splits.get(split, {}).get(key), 0) for split in SPLITS]
