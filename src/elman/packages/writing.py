"""Makes a package of a trained model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman.packages.package import Package


def write_package(
    cell_folder: Path,
    out: Path,
    *,
    seed: int | None = None,
    params: Mapping[str, Any],
    metrics: Mapping[str, Any],
    provenance: Mapping[str, str],
) -> Package:
    """Copies a trained model with all that it needs into a new folder, which appears whole or not at all.

    Args:
        cell_folder: models/<task>/<cell>, with serving.json and the seeds' folders.
        out: The package; must not exist yet.
        seed: Which of the cell's models; None takes the one that is best on validation.
        params: What the model was trained with; strict JSON.
        metrics: What it reached; strict JSON.
        provenance: Hashes of data, tokenizer, params and code, and the commit.

    Raises:
        ArtifactError: `out` exists, the model is not whole, or a value is no strict JSON.
    """
    raise NotImplementedError
