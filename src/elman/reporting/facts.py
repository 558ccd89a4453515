"""The data block of a report: what was read, what was left out, what the splits hold, and what two of them share."""

from collections.abc import Mapping
from typing import Any

from elman.reporting.measures import NOT_AVAILABLE, listed, number

SPLITS = ("train", "valid", "test")
_NOTHING = "–"

_LENGTHS = (("fewest", "min"), ("median", "p50"), ("95 % have up to", "p95"), ("most", "max"))


def data_sentence(prepared: Mapping[str, Any]) -> str:
    """Rows used and rejected, and how much of valid and test stands in train; empty where nothing is known."""
    sentences = []
    if "rows_read" in prepared:
        counts = [number(prepared.get(key), 0) for key in ("rows_read", "rows_used", "rows_rejected")]
        sentences.append(f"{counts[0]} rows read: {counts[1]} used, {counts[2]} rejected.")
    shares = [
        f"{percent(overlap.get('share'))} of the {split} documents"
        for split, overlap in prepared.get("overlap_with_train", {}).items()
    ]
    if shares:
        sentences.append(f"{listed(shares)} stand in train too, exactly or nearly.")
    return " ".join(sentences)


def split_table(task: str, prepared: Mapping[str, Any], encoded: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Rows of counts: a name, and one entry for each of train, valid and test; only what the task uses."""
    splits = prepared.get("splits", {})
    documents = {split: splits.get(split, {}).get("rows") for split in SPLITS}
    rows = [("documents", _counts(splits, "rows")), *_overlap(prepared, documents)]
    rows.append(("words", _counts(splits, "words")))
    tokens = {split: encoded.get(split, {}).get("tokens") for split in SPLITS}
    rows.append(("tokens, eos included", _counts(encoded, "tokens")))
    rows.append(("unknown tokens", _shares(encoded, "unk_tokens", of=tokens)))
    if task == "classifier":  # a language model reads every document to its end
        limit = number(encoded.get("max_length"), 0)
        rows.append((f"cut at {limit} tokens", _shares(encoded, "cut_documents", of=documents)))
        rows.append(("tokens cut", _shares(encoded, "cut_tokens", of=tokens)))
    return _known(rows)


def length_table(prepared: Mapping[str, Any], encoded: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """How long the documents of each split are, in words and in tokens, and how many bytes they have together."""
    splits = prepared.get("splits", {})
    rows = [(f"words a document: {name}", _counts(_words(prepared), key)) for name, key in _LENGTHS]
    rows += [(f"tokens a document: {name}", _counts(encoded, f"length_{key}")) for name, key in _LENGTHS]
    return _known([*rows, ("bytes, all documents", _counts(splits, "bytes"))])


def length_sentence(prepared: Mapping[str, Any]) -> str:
    """The lengths of the test documents in a few words."""
    words = _words(prepared).get("test", {})
    if words.get("max") is None:
        return "Lengths"
    half, most, all_ = (number(words[key], 0) for key in ("p50", "p95", "max"))
    return f"Lengths: of the test documents half have up to {half} words, 95\u00a0% up to {most}, all up to {all_}"


def _words(prepared: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {row["split"]: row for row in prepared.get("document_words", [])}


def _known(rows: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    return [(name, numbers) for name, numbers in rows if not set(numbers) <= {NOT_AVAILABLE, _NOTHING}]


def _overlap(prepared: Mapping[str, Any], documents: Mapping[str, int | None]) -> list[tuple[str, list[str]]]:
    """Exact and near copies, by split; where only some documents were looked up, of how many."""
    overlaps = prepared.get("overlap_with_train", {})
    exact, near = [_NOTHING], [_NOTHING]
    for split in SPLITS[1:]:
        found = overlaps.get(split, {})
        exact.append(number(found.get("exact"), 0))
        near.append(number(found.get("near"), 0))
        if "checked" in found and found["checked"] < (documents[split] or 0):
            near[-1] += f" of {number(found['checked'], 0)} looked up"
    return [("exact copies in train", exact), ("near copies in train", near)]


def label_table(prepared: Mapping[str, Any]) -> list[list[str]]:
    """Documents by label, the largest class of train first: label, train, valid, test."""
    entries = sorted(prepared.get("labels", []), key=lambda entry: -int(entry["train"]))
    return [[str(entry["label"]), *(number(entry[split], 0) for split in SPLITS)] for entry in entries]


def data_facts(prepared: Mapping[str, Any], encoded: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What happened on the way from the files to the splits: a name and a sentence each."""
    facts = []
    named = (
        ("rejected, by reason", "rejected"),
        ("exact copies taken out", "removed_repeats"),
        ("exact copies left in", "kept_repeats"),
    )
    for name, key in named:
        parts = [f"{reason.replace('_', ' ')} {number(count, 0)}" for reason, count in prepared.get(key, {}).items()]
        if parts:
            facts.append((name, ", ".join(parts)))
    overlaps = prepared.get("overlap_with_train", {}).values()
    if any(overlap.get("exact") or overlap.get("near") for overlap in overlaps):
        facts.append(("near copies", "left in; all pairs stand in data/prepared/leaks.parquet"))
    if prepared.get("encoding"):
        facts.append(("character encoding", str(prepared["encoding"])))
    if "vocab_size" in encoded:
        facts.append(("vocabulary", f"{number(encoded['vocab_size'], 0)} pieces"))
    return facts


def percent(share: float | None) -> str:
    r"""A share as the reports write it, in one piece.

    Example:
        >>> percent(0.00886), percent(0.00004), percent(0.0), percent(None)
        ('0.9\xa0%', '<\xa00.1\xa0%', '0\xa0%', 'n/a')
    """
    if share is None:
        return NOT_AVAILABLE
    if share == 0:
        return "0\u00a0%"
    return f"{100 * share:.1f}\u00a0%" if share >= 0.0005 else "<\u00a00.1\u00a0%"


def _counts(splits: Mapping[str, Any], key: str) -> list[str]:
    return [number(splits.get(split, {}).get(key), 0) for split in SPLITS]


def _shares(splits: Mapping[str, Any], key: str, *, of: Mapping[str, int | None]) -> list[str]:
    return [_with_share(splits.get(split, {}).get(key), of[split]) for split in SPLITS]


def _with_share(count: int | None, total: int | None) -> str:
    return f"{number(count, 0)} ({percent(count / total)})" if count and total else number(count, 0)
