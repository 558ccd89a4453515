"""What the numbers allow to be said, in a few sentences.

Only intervals over seeds speak here. Where two overlap, no difference is claimed; where they do not, the sentence says
just that. A paired test on documents is another question and needs another answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from elman.reporting.comparison import baselines, trained
from elman.reporting.measures import DRAWN, Measure, interval, listed, number, title

CAUTION = (
    "The intervals show what changes with the seed, on this one test split; they say nothing about other documents or "
    "other settings."
)


def verdict(comparison: Mapping[str, Any]) -> list[str]:
    """Sentences about the cells of one task, none of them more than the intervals support.

    Args:
        comparison: What `build_comparison` returns.

    Returns:
        Sentences in the order in which they are to be read.
    """
    measure = DRAWN[comparison["task"]][0]
    cells = [row for row in trained(comparison) if row["measures"][measure.key]["mean"] is not None]
    lost = [title(row["name"]) for row in trained(comparison) if row not in cells]
    sentences = [f"{listed(lost)} gave no finite {measure.title}."] if lost else []
    if not cells:
        return sentences
    sign = 1.0 if measure.lower_is_better else -1.0
    ranked = sorted(cells, key=lambda row: sign * float(row["measures"][measure.key]["mean"]))
    sentences.append(_first(ranked[0], measure, alone=len(ranked) == 1))
    sentences += _against_cells(ranked, measure)
    sentences += _against_baseline(ranked, strongest(baselines(comparison), measure), measure)
    if any(_has_interval(row, measure) for row in cells):
        sentences.append(CAUTION)
    return sentences


def _first(best: Mapping[str, Any], measure: Measure, *, alone: bool) -> str:
    values = best["measures"][measure.key]
    place = "has the mean" if alone else f"has the {'lowest' if measure.lower_is_better else 'highest'} mean"
    mean = f"{title(best['name'])} {place} {measure.title}: {number(values['mean'], measure.decimals)}"
    if not _has_interval(best, measure):
        return f"{mean}, from one seed."
    return f"{mean} (95 % interval over {len(best['seeds'])} seeds {interval(values, measure.decimals)})."


def _against_cells(ranked: list[dict[str, Any]], measure: Measure) -> list[str]:
    best, others = ranked[0], ranked[1:]
    if not others:
        return []
    if not all(_has_interval(row, measure) for row in ranked):
        return ["Without an interval for every cell nothing is said about their order: another seed could reverse it."]
    near = [title(row["name"]) for row in others if _overlap(best, row, measure)]
    far = [title(row["name"]) for row in others if not _overlap(best, row, measure)]
    side = "below" if measure.lower_is_better else "above"
    sentences = []
    if near:
        sentences.append(
            f"Its interval overlaps {_of(near)}: these seeds do not show a difference between "
            f"{'the two' if len(near) == 1 else 'them'}."
        )
    if far:
        also = "also " if near else ""
        sentences.append(f"Its interval {also}lies wholly {side} {_of(far)}.")
    return sentences


def strongest(rows: Sequence[Mapping[str, Any]], measure: Measure) -> Mapping[str, Any] | None:
    """The baseline with the best value, which a cell has to beat; None where none has a value."""
    known = [row for row in rows if row["measures"].get(measure.key, {}).get("mean") is not None]
    sign = 1.0 if measure.lower_is_better else -1.0
    return min(known, key=lambda row: sign * float(row["measures"][measure.key]["mean"]), default=None)


def strongest_bar(comparison: Mapping[str, Any], measure: Measure) -> tuple[str, float] | None:
    """Name and value of the strongest baseline, for a figure."""
    row = strongest(baselines(comparison), measure)
    return None if row is None else (row["name"], float(row["measures"][measure.key]["mean"]))


def _against_baseline(ranked: list[dict[str, Any]], baseline: Mapping[str, Any] | None, measure: Measure) -> list[str]:
    if baseline is None:
        return []
    bar = float(baseline["measures"][measure.key]["mean"])
    name = f"the strongest baseline ({title(baseline['name'])}, {number(bar, measure.decimals)})"
    side = "below" if measure.lower_is_better else "above"
    clear = [row for row in ranked if _beyond(row, bar, measure)]
    open_ = [title(row["name"]) for row in ranked if row not in clear]
    if not open_:
        what = "interval" if all(_has_interval(row, measure) for row in ranked) else "value"
        if len(ranked) == 1:
            return [f"Its {what} lies {side} {name}."]
        return [f"Every cell's {what} lies {side} {name}."]
    if not clear and len(ranked) > 1:
        what = "interval" if all(_has_interval(row, measure) for row in ranked) else "value"
        return [f"No cell's {what} lies {side} {name}."]
    return [f"{listed(open_)} {'is' if len(open_) == 1 else 'are'} not shown to be better than {name}."]


def _has_interval(row: Mapping[str, Any], measure: Measure) -> bool:
    values = row["measures"][measure.key]
    return values["low"] is not None and values["high"] is not None


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any], measure: Measure) -> bool:
    a, b = one["measures"][measure.key], other["measures"][measure.key]
    return bool(a["low"] <= b["high"] and b["low"] <= a["high"])


def _beyond(row: Mapping[str, Any], bar: float, measure: Measure) -> bool:
    """Whether the whole interval, or the one value, is better than the bar."""
    values = row["measures"][measure.key]
    if measure.lower_is_better:
        return bool((values["mean"] if values["high"] is None else values["high"]) < bar)
    return bool((values["mean"] if values["low"] is None else values["low"]) > bar)


def _of(names: list[str]) -> str:
    return f"that of {names[0]}" if len(names) == 1 else f"those of {listed(names)}"
