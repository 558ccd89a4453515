"""A classifier that starts from a language model: embedding and recurrent layers are copied, the head is its own."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.artifacts import read_json, write_json
from elman.errors import ArtifactError, ConfigError
from elman.models.serving import read_serving
from elman.models.store import Model, load_model

NAME = "start.json"  # in a seed's folder: what its training started from


class Start(NamedTuple):
    """The weights that a classifier starts from.

    Attributes:
        source: The folder of the language model.
        weights: By layer and weight, such as gru_1/kernel.
        sha256: Of names, shapes and values.
    """

    source: str
    weights: dict[str, npt.NDArray[np.float32]]
    sha256: str

    def facts(self) -> dict[str, Any]:
        """What is recorded of the start, with the model and with its run."""
        return {"source": self.source, "sha256": self.sha256, "copied": list(self.weights)}


def shared_weights(model: Model) -> dict[str, Any]:
    """The variables of embedding and recurrent layers, by layer and weight."""
    layers = (model.encoder.embedding, *model.encoder.recurrent_layers)
    return {f"{layer.name}/{weight.name}": weight for layer in layers for weight in layer.trainable_variables}


def read_start(folder: Path, *, tokenizer: Path) -> Start:
    """The weights of a trained language model.

    Args:
        folder: models/language_model/<cell>/seed-<n>.
        tokenizer: Folder of the tokenizer that the classifier reads with.

    Raises:
        ArtifactError: The model is missing, damaged, or reads with another tokenizer, whose ids mean other pieces.
    """
    learned = read_serving(folder.parent).tokenizer.sha256
    own = read_json(tokenizer / "tokenizer.json")["sha256"]
    if learned != own:
        raise ArtifactError(
            f"{folder}: learned with the tokenizer {learned[:12]}, and {tokenizer} is {own[:12]}: their ids mean other "
            "pieces, so that no weights can be copied; run `dvc repro`"
        )
    weights = {name: np.asarray(weight.value) for name, weight in shared_weights(load_model(folder)).items()}
    digest = hashlib.sha256()
    for name, value in weights.items():
        digest.update(f"{name}\0{value.shape}\0{value.dtype}\n".encode() + np.ascontiguousarray(value).tobytes())
    return Start(folder.as_posix(), weights, digest.hexdigest())


def read_starts(folder: Path, *, seeds: Sequence[int], tokenizer: Path) -> dict[int, Start]:
    """The start of each seed, from the language model of the same seed; arguments as in `read_start`."""
    return {seed: read_start(folder / f"seed-{seed}", tokenizer=tokenizer) for seed in seeds}


def write_start(folder: Path, start: Start | None) -> None:
    """Writes start.json beside a trained model; none where its first weights were drawn."""
    if start is None:
        (folder / NAME).unlink(missing_ok=True)
    else:
        write_json(folder / NAME, {"version": 1, **start.facts()})


def copy_start(model: Model, start: Start) -> None:
    """Puts the weights into the layers of the same name; all others stay as they are.

    Raises:
        ConfigError: The layers differ in name or shape.
    """
    own = shared_weights(model)
    shapes = {name: tuple(weight.shape) for name, weight in own.items()}
    theirs = {name: value.shape for name, value in start.weights.items()}
    if shapes != theirs:
        differ = sorted(name for name in shapes | theirs if shapes.get(name) != theirs.get(name))
        raise ConfigError(
            f"classifier.pretrain: {start.source} does not fit: {differ[0]} is {theirs.get(differ[0])} there and "
            f"{shapes.get(differ[0])} here; give classifier and language_model the same embedding_dim, units and "
            "num_layers"
        )
    for name, weight in own.items():
        weight.assign(start.weights[name])
