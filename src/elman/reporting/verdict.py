"""What the numbers allow to be said, in a few sentences.

The mean tells who leads; whether that is more than chance is told by paired tests: over documents (the same models on
other documents) and over seeds (other trainings of the same cells). "Better" needs both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from elman.reporting.comparing.words import p_text
from elman.reporting.measures import DRAWN, Measure, interval, listed, number, title
from elman.reporting.rows import baselines, strongest, trained

CAUTION = (
    "Intervals and p over documents are about these trained models on other documents; those over seeds are about "
    "other trainings, on these documents. Nothing here is about other settings."
)


def verdict(comparison: Mapping[str, Any]) -> list[str]:
    """Sentences about the cells of one task, none of them more than the tests support.

    Args:
        comparison: What comparison.json holds.

    Returns:
        Sentences in the order in which they are to be read.
    """
    measure = DRAWN[comparison["task"]][0]
    cells = [row for row in trained(comparison) if row["measures"][measure.key]["mean"] is not None]
    lost = [title(row["name"]) for row in trained(comparison) if row not in cells]
    sentences = [f"{listed(lost)} gave no finite {measure.title}."] if lost else []
    best = strongest(cells, measure)
    if best is None:
        return sentences
    sentences.append(_first(best, measure, alone=len(cells) == 1))
    pairs = _pairs_of(best["name"], comparison["pairs"])
    sentences += _against_cells(pairs, [row["name"] for row in cells if row is not best], measure)
    bar = strongest(baselines(comparison), measure)
    if bar is not None:
        sentences.append(_against_baseline(best, bar, pairs.get(bar["name"]), measure))
    if pairs:
        sentences.append(CAUTION)
    return sentences


def cell_verdict(comparison: Mapping[str, Any], name: str) -> str:
    """What the tests say of one cell beside each other row, in a line.

    Example: "better than SimpleRNN; not told from LSTM; worse than TF-IDF + LR (accuracy)".
    """
    measure = DRAWN[comparison["task"]][0]
    grouped: dict[str, list[str]] = {"better than": [], "not told from": [], "worse than": []}
    for other, pair in _pairs_of(name, comparison["pairs"]).items():
        ahead = (pair["difference"] < 0) == measure.lower_is_better
        if pair["second"] == name:
            ahead = not ahead
        if pair["outcome"] in ("undecided", "identical"):
            grouped["not told from"].append(title(other))
        else:
            doubt = "" if pair["outcome"] == "better" or pair["over_seeds"]["adjusted_p"] is None else " (seeds open)"
            grouped["better than" if ahead else "worse than"].append(f"{title(other)}{doubt}")
    parts = [f"{words} {listed(names)}" for words, names in grouped.items() if names]
    return f"{'; '.join(parts) or 'compared with no other'} ({measure.title})"


def _pairs_of(name: str, pairs: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """By the other's name, the pairs that hold `name`."""
    return {
        pair["second"] if pair["first"] == name else pair["first"]: pair
        for pair in pairs
        if name in (pair["first"], pair["second"])
    }


def _first(best: Mapping[str, Any], measure: Measure, *, alone: bool) -> str:
    values = best["measures"][measure.key]
    place = "has the mean" if alone else f"has the {'lowest' if measure.lower_is_better else 'highest'} mean"
    mean = f"{title(best['name'])} {place} {measure.title}{'' if alone else ' of the cells'}: "
    mean += number(values["mean"], measure.decimals)
    ends = []
    if values["low"] is not None:
        ends.append(f"over {len(best['seeds'])} seeds {interval(values, measure.decimals)}")
    documents = values.get("documents", {})
    if documents.get("low") is not None:
        ends.append(f"over documents {interval(documents, measure.decimals)}")
    one = "" if values["low"] is not None else ", from one seed"
    return f"{mean}{one} (95 % intervals: {', '.join(ends)})." if ends else f"{mean}{one}."


def _against_cells(pairs: Mapping[str, Mapping[str, Any]], others: Sequence[str], measure: Measure) -> list[str]:
    """One sentence for each outcome, with the cells that it holds for."""
    grouped: dict[str, list[str]] = {}
    for name in others:
        if name in pairs:
            grouped.setdefault(pairs[name]["outcome"], []).append(name)
    sentences = []
    for outcome in ("better", "seeds_untested", "seeds_undecided", "undecided", "identical"):
        if names := grouped.get(outcome):
            told = listed([f"{title(name)} ({_evidence(pairs[name], measure)})" for name in names])
            sentences.append(_OUTCOMES[outcome].format(others=told))
    return sentences


_OUTCOMES = {
    "better": "It is better than {others}.",
    "seeds_untested": "It is better on these documents than {others}; one seed says nothing about other trainings.",
    "seeds_undecided": "Its trained models are better than those of {others}, but other seeds could reverse that.",
    "undecided": "These data do not tell it from {others}.",
    "identical": "It scores every document as does {others}.",
}


def _against_baseline(
    best: Mapping[str, Any], bar: Mapping[str, Any], pair: Mapping[str, Any] | None, measure: Measure
) -> str:
    value = number(bar["measures"][measure.key]["mean"], measure.decimals)
    name = f"the strongest baseline, {title(bar['name'])} ({value})"
    mean, other = best["measures"][measure.key]["mean"], bar["measures"][measure.key]["mean"]
    ahead = (mean < other) == measure.lower_is_better and mean != other
    if pair is None:  # it has no scores by document: the majority class
        return f"Its mean is {'better' if ahead else 'not better'} than that of {name}; documents were not compared."
    evidence = _evidence(pair, measure)
    if pair["outcome"] in ("undecided", "identical"):
        return f"These data do not tell it from {name} ({evidence})."
    if ahead:
        return f"It is better on these documents than {name} ({evidence})."
    return f"{title(best['name'])} is worse than {name} ({evidence})."


def _evidence(pair: Mapping[str, Any], measure: Measure) -> str:
    """Effect and what it rests on; for one that is not shown, how large it would have had to be."""
    parts = [f"difference {number(abs(pair['difference']), measure.decimals)}", f"p {p_text(pair['adjusted_p'])}"]
    over = pair["over_seeds"]["adjusted_p"]
    if pair["outcome"] in ("better", "seeds_undecided") and over is not None:
        parts[1] += f" over documents and {p_text(over)} over seeds"
    if pair["outcome"] == "undecided" and pair["smallest_detectable"] is not None:
        shown = number(pair["smallest_detectable"], measure.decimals)
        parts.append(f"one of {shown} would have been found four times in five")
    return ", ".join(parts)
