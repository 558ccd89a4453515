"""Systems are compared on the same documents or not at all."""

from collections.abc import Sequence

import numpy as np

from elman.errors import DataError, MetricError
from elman.reporting.comparing.system import System

PER_TOKEN = ("perplexity", "nll_nats_per_token")


def check_same_documents(systems: Sequence[System], *, measure: str) -> None:
    """Refuses systems that were tested on other documents, or that count tokens otherwise where tokens count.

    Raises:
        DataError: Ids, labels, words or bytes differ; the first row that does is named.
        MetricError: A measure per token, and the documents have other numbers of tokens: two tokenizers.
    """
    first = systems[0]
    for other in systems[1:]:
        if other.task != first.task:
            raise DataError(
                f"{first.name} is a {first.task}, {other.name} a {other.task}: they have no measure in common"
            )
        sizes = len(first.documents["id"]), len(other.documents["id"])
        if sizes[0] != sizes[1]:
            raise DataError(
                f"{first.name} was tested on {sizes[0]:,} documents and {other.name} on {sizes[1]:,}: only "
                "systems with the same test set can be compared"
            )
        for column, values in first.documents.items():
            differs = np.flatnonzero(values != other.documents[column])
            if len(differs) == 0 or (column == "num_tokens" and measure not in PER_TOKEN):
                continue
            row = int(differs[0])
            both = f"{values[row]} in {first.name} and {other.documents[column][row]} in {other.name}"
            words = f"row {row} has {column} {both}"
            if column == "num_tokens":
                raise MetricError(
                    f"{measure} is per token, and the tokenizers differ: {words}. Use --measure bits_per_byte or "
                    "--measure perplexity_per_word, which mean the same for every tokenizer"
                )
            raise DataError(f"the test sets differ: {words}; only systems with the same test set can be compared")
