"""One sum of surprise, divided by tokens, words and bytes."""

import math
from typing import Any

from matplotlib.figure import Figure

from docs_tools.concepts.look import COLORS, axes_of
from elman.metrics.perplexity import perplexity_block

TOKENS = (("oil", 1 / 2), ("ro", 1 / 4), ("se", 1 / 8), ("eos", 1 / 8))


def values() -> dict[str, Any]:
    """The block of "oil rose" in four tokens, to which a model gave the probabilities of `TOKENS`."""
    nats = [-math.log(probability) for _, probability in TOKENS]
    counts = {"num_tokens": 4, "num_words": 2 + 1, "num_bytes": 8 + 1, "num_documents": 1, "num_unk": 0}
    return {"bits": [nat / math.log(2) for nat in nats], "block": perplexity_block(nll_nats=sum(nats), **counts)}


def draw(found: dict[str, Any]) -> Figure:
    """Bits a token as bars, their mean as a line; the three averages beside it."""
    figure, (left, right) = axes_of(2, height=2.9)
    names = [name for name, _ in TOKENS]
    left.bar(names, found["bits"], color=COLORS[0], width=0.6)
    mean = sum(found["bits"]) / len(names)
    left.axhline(mean, color=COLORS[1], linewidth=1.4, label=f"mean: {mean:.2f} bits")
    left.set_ylabel("surprise, bits: -log2 p")
    left.set_ylim(0, 4.2)
    left.legend(frameon=False, loc="upper left")
    block, total = found["block"], sum(found["bits"])
    bars = {f"a {unit}\n({block[f'num_{unit}s']})": total / block[f"num_{unit}s"] for unit in ("token", "word", "byte")}
    drawn = right.bar(bars.keys(), bars.values(), color=COLORS[2], width=0.6)
    right.bar_label(drawn, [f"{bits:.2f}" for bits in bars.values()], padding=2)
    right.set_ylabel(f"the same {total:.0f} bits, divided")
    right.set_ylim(0, 3.6)
    return figure
