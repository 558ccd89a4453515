"""A model as a folder: model.json says what it is, model.keras holds its weights."""

from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import read_json, replacing, write_json
from elman.errors import ArtifactError
from elman.models.classifier import Classifier
from elman.models.language_model import LanguageModel
from elman.models.spec import ModelSpec
from elman.storage import storage_error

Model = Classifier | LanguageModel

_TOLERANCE = 1e-5


def build_model(spec: ModelSpec) -> Model:
    """A model with fresh weights that `spec.seed` names."""
    model = (
        Classifier(spec, name="classifier") if spec.task == "classifier" else LanguageModel(spec, name="language_model")
    )
    model.build()
    return model


def save_model(model: Model, folder: Path) -> None:
    """Writes the folder, then loads it again and compares outputs.

    Raises:
        ArtifactError: The loaded model's outputs differ from the saved one's.
    """
    write_json(folder / "model.json", model.spec.to_json())
    with replacing(folder / "model.keras") as temporary:
        model.save(temporary)
    difference = float(np.max(np.abs(_probe(model) - _probe(load_model(folder)))))
    if not difference <= _TOLERANCE:
        raise ArtifactError(f"{folder}: the model that was read back differs by {difference:.2g} from the saved one")


def load_model(folder: Path) -> Model:
    """Builds the model that model.json describes and reads its weights; no code from the folder is run.

    Raises:
        ArtifactError: A file is missing or damaged, or the weights do not fit the description.
        StorageError: A file may not be read.
    """
    spec = ModelSpec.from_json(read_json(folder / "model.json"), source=str(folder / "model.json"))
    model = build_model(spec)
    weights = folder / "model.keras"
    if not weights.is_file():
        raise ArtifactError(f"{weights}: no such file; run `dvc repro` to make it")
    try:
        model.load_weights(weights)
    except Exception as error:
        damaged = ArtifactError(f"{weights}: damaged, or not the weights of {folder / 'model.json'}: {error}")
        raise storage_error(error) or damaged from error
    return model


def _probe(model: Model) -> Any:
    """Outputs on two fixed rows of different lengths."""
    ids = np.arange(14, dtype=np.int32).reshape(2, 7) * 37 % model.spec.vocab_size
    mask = np.arange(7) < np.array([[7], [4]])
    outputs = model(ids, padding_mask=mask)
    return np.asarray(outputs[0] if isinstance(outputs, tuple) else outputs)
