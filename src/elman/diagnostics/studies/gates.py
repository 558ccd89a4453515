"""The study `gates`: what the gates of a trained model do over a text."""

from typing import Any

import numpy as np

from elman.data.tokenizer import Tokenizer
from elman.diagnostics.gate_report import gate_report
from elman.diagnostics.gate_values import gate_values
from elman.diagnostics.layer_inputs import encode_text, layer_inputs
from elman.diagnostics.studies.sweep import VERSION
from elman.models.store import Model


def study_gates(model: Model, tokenizer: Tokenizer, text: str, *, title: str, pictured: int = 40) -> dict[str, Any]:
    """Reads the text with the model, and reports on each recurrent layer.

    Args:
        model: A classifier or language model.
        tokenizer: The one that it was trained with.
        text: Reports are over all of it.
        title: What the table and the figure call the model.
        pictured: How many tokens, from the start, the picture has room for.

    Returns:
        For each layer what `gate_report` gives, and `picture`: the gates (of a simple network the outputs) at the first
        tokens, [tokens][units], rounded to 2 digits, units in the order of their mean keeping gate.

    Raises:
        DataError: The text is empty, or the tokenizer is another model's.
    """
    ids = encode_text(tokenizer, text, model=model)
    rows = []
    for number, (layer, inputs) in enumerate(layer_inputs(model, ids), start=1):
        values = gate_values(layer, inputs)
        shown = values.gates or {"output": values.output}
        kept = values.output if values.keeping is None else values.gates[values.keeping]
        order = np.argsort(kept.mean(axis=0))
        rows.append(
            {
                "name": layer.name,
                "title": f"{title}, layer {number}",
                **gate_report(values),
                "picture": {name: gate[:pictured, order].round(2).tolist() for name, gate in shown.items()},
            }
        )
    return {
        "version": VERSION,
        "study": "gates",
        "settings": {"model": title, "tokens": len(ids), "cell": model.spec.cell, "units": model.spec.units},
        "tokens": [_label(tokenizer, number) for number in ids[:pictured].tolist()],
        "rows": rows,
    }


def _label(tokenizer: Tokenizer, token_id: int) -> str:
    """The piece with a visible sign for a line's end."""
    return tokenizer.piece(token_id).replace("\n", "⏎")
