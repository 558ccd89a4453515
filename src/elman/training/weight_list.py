"""Which language models there are, by the hashes of their files: tells DVC that a classifier's start has changed."""

from pathlib import Path
from typing import Any

from elman.artifacts import sha256_file
from elman.errors import ArtifactError


def list_weights(folder: Path) -> dict[str, Any]:
    """The hash of each trained model's weights file, by cell and seed.

    Args:
        folder: models/language_model.

    Raises:
        ArtifactError: There is none.
    """
    models: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("*/seed-*/model.keras")):
        models.setdefault(path.parts[-3], {})[path.parts[-2].removeprefix("seed-")] = sha256_file(path)
    if not models:
        raise ArtifactError(f"{folder}: holds no trained model; run `dvc repro`")
    return {"version": 1, "models": models}
