"""The outcome in words and as a table."""

from collections.abc import Mapping
from typing import Any

from elman.reporting.measures import COMPARED, Measure, number

_MEASURES = {measure.key: measure for measures in COMPARED.values() for measure in measures}


def outcome(pair: Mapping[str, Any], *, alpha: float) -> str:
    """What a pair's tests allow to be said, as one word.

    "Better" needs a corrected p below `alpha` over documents and, where seeds can be tested, over seeds as well.

    Returns:
        "identical", "undecided" (over documents), "better" (over both), "seeds_undecided" or "seeds_untested".
    """
    if pair["identical"]:
        return "identical"
    if pair["adjusted_p"] >= alpha:
        return "undecided"
    over = pair["over_seeds"]["adjusted_p"]
    if over is None:
        return "seeds_untested"
    return "better" if over < alpha else "seeds_undecided"


def verdict(pair: Mapping[str, Any], measure: str) -> str:
    """Who is better, by how much, and what says so; or that these data do not tell the two apart."""
    first, second, shown = pair["first"], pair["second"], _MEASURES[measure]
    if pair["outcome"] == "identical":
        return f"{first} and {second} score every document alike: no difference."
    better, worse = (first, second) if (pair["difference"] < 0) == shown.lower_is_better else (second, first)
    facts = _facts(pair, shown)
    if pair["outcome"] == "undecided":
        return f"These documents do not tell {first} and {second} apart in {shown.title} ({facts})."
    if pair["outcome"] == "seeds_untested":
        return f"{better} is better than {worse} in {shown.title} on these documents ({facts}); seeds were not tested."
    over = p_text(pair["over_seeds"]["adjusted_p"])
    if pair["outcome"] == "seeds_undecided":
        return (
            f"{better}'s trained models are better than {worse}'s in {shown.title} ({facts}), but other seeds could "
            f"reverse it (over seeds p {over})."
        )
    return f"{better} is better than {worse} in {shown.title} ({facts}; over seeds p {over})."


def lines(result: Mapping[str, Any]) -> list[str]:
    """What `elman compare` prints for one task."""
    shown = _MEASURES[result["measure"]]
    decimals = shown.decimals + 1
    width = max(len(row["name"]) for row in result["systems"])
    text = [f"{result['task'].replace('_', ' ')}, {shown.title}, {result['num_documents']:,} test documents", ""]
    for row in result["systems"]:
        ends = "" if row["low"] is None else f"  {number(row['low'], decimals)} to {number(row['high'], decimals)}"
        text.append(f"{row['name']:{width}}  {number(row['value'], decimals)}{ends}  seeds: {len(row['by_seed'])}")
    text += ["", *(f"- {pair['verdict']}" for pair in result["pairs"]), ""]
    return [
        *text,
        f"Intervals: 95 %, over documents, {result['resamples']:,} resamples, each pair's own. p: corrected for "
        f"{len(result['pairs'])} pair(s) (Holm). Smallest detectable: found four times in five at the corrected level.",
    ]


def _facts(pair: Mapping[str, Any], shown: Measure) -> str:
    decimals = shown.decimals + 1
    ends = "no interval from one document"
    if pair["low"] is not None:
        ends = f"95 % interval {pair['low']:+,.{decimals}f} to {pair['high']:+,.{decimals}f}"
    smallest = pair["smallest_detectable"]
    power = "no spread over documents" if smallest is None else f"smallest detectable {smallest:,.{decimals}f}"
    difference, p_value = f"{pair['difference']:+,.{decimals}f}", p_text(pair["adjusted_p"])
    return f"difference {difference}, {ends}, {pair['test']} p {p_value}, {power}"


def p_text(value: float) -> str:
    """A p as people write it."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
