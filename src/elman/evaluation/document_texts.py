"""What a reader wants to see of a document that a model found hard: where it came from, and how it begins."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import read_batches
from elman.errors import ArtifactError


def document_texts(prepared: Path, ids: Collection[int], *, characters: int) -> dict[int, dict[str, Any]]:
    """Source, row and the beginning of the text of some documents; the table is read batch by batch.

    Args:
        prepared: A split as the prepare stage writes it.
        ids: The documents' numbers in the split.
        characters: How much of a text, at most.

    Returns:
        By id: source, source_row and text.

    Raises:
        ArtifactError: The table is missing, damaged, or lacks a document.
    """
    found = {}
    for batch in read_batches(prepared, columns=["id", "text", "source", "source_row"]):
        wanted = np.isin(batch.column("id").to_numpy(), list(ids))
        for row in batch.filter(wanted).to_pylist():
            number = row.pop("id")
            found[number] = {**row, "text": row["text"][:characters]}
    if missing := sorted(set(ids) - set(found)):
        raise ArtifactError(f"{prepared}: lacks the document {missing[0]} of the encoded text; run `dvc repro encode`")
    return found
