"""The mistakes that the best cell is most sure about."""

from elman.reporting.html import folded, remark, section, table
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import DRAWN, number, title
from elman.reporting.rows import strongest, trained


def mistakes_section(inputs: ReportInputs) -> str:
    """Document by document: what it is, what it was taken for, how surely, and how it begins."""
    best = strongest(trained(inputs.comparison), DRAWN[inputs.comparison["task"]][0])
    if best is None:
        return ""
    found = inputs.mistakes[best["name"]]
    seeds = len(best["seeds"])
    rows = [
        [
            f"{row['source']} row {row['source_row']}",
            row["label"],
            row["predicted"],
            number(row["probability"], 3),
            f"{row['seeds_wrong']} of {seeds}",
            row["text"],
        ]
        for row in found
    ]
    heads = ["document", "label", "taken for", "probability", "seeds wrong", "text"]
    caption = (
        f"Test documents that {title(best['name'])} gets wrong, those with the highest probability first (mean over "
        "seeds). Wrong labels, cut texts and classes that overlap show here."
    )
    if not rows:
        return section("Most confident mistakes", remark(f"{title(best['name'])} makes none on the test split."))
    opener = f"the {len(rows)} surest" if len(rows) > 1 else "the one mistake"
    shown = folded(opener, table(heads, rows, texts=True))
    return section("Most confident mistakes", remark(caption), shown)
