"""Where the language models are surprised, and by which documents most."""

from html import escape

from elman.reporting.drawing import as_svg
from elman.reporting.html import figures, remark, section, table
from elman.reporting.inputs import ReportInputs
from elman.reporting.measures import DRAWN, number, title
from elman.reporting.rows import strongest, trained
from elman.reporting.surprise import NAMES, draw_surprise


def surprise_section(inputs: ReportInputs) -> str:
    """Nats per token by position and by frequency, and the documents that the best cell finds least likely."""
    drawings = [
        as_svg(draw_surprise(inputs.surprise, by, for_page=True), label=f"Nats per token by {name}")
        for by, name in NAMES.items()
    ]
    caption = "Mean over seeds, test split. A document's first token is at position 1; its end mark counts as a token."
    return section("Surprise", figures(drawings), remark(caption), *_documents(inputs))


def _documents(inputs: ReportInputs) -> list[str]:
    best = strongest(trained(inputs.comparison), DRAWN[inputs.comparison["task"]][0])
    found = inputs.surprise[best["name"]]["documents"] if best is not None else []
    if best is None or not found:
        return []
    rows = [
        [
            f"{row['source']} row {row['source_row']}",
            number(row["bits_per_byte"], 3),
            number(row["kneser_ney_bits_per_byte"], 3),
            number(row["num_tokens"], 0),
            row["text"],
        ]
        for row in found
    ]
    heads = ["document", f"bits per byte, {title(best['name'])}", title("kneser_ney"), "tokens", "text"]
    words = f"The test documents of at least 5 tokens with the most bits per byte under {title(best['name'])}."
    shown = f"<details><summary>{escape(f'{len(rows)} documents')}</summary>{table(heads, rows, texts=True)}</details>"
    return [remark(words), shown]
