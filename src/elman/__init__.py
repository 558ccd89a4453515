"""Small recurrent text models, trained reproducibly and compared honestly."""

import importlib
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def load(name: Any, *, models: Any = "models", task: str | None = None) -> Any:
    """A trained model by its name, such as `lstm`, that takes text; TensorFlow is loaded by the first call.

    A classifier has `classify(texts)`, a language model `score(texts)` and `generate(prompt)`, both `embed(texts)`; a
    `Stream` reads text as it comes. See `elman.packages.loading.load`.

    Args:
        name: `lstm` or `classifier/lstm`: of the seeds, the one that is best on validation. Or a folder: a package's, a
            cell's, such as models/classifier/lstm, or a seed's in it. Or a registered package, such as
            `models:/reuters-r8 classifier@champion` or `models:/reuters-r8 classifier/3`.
        models: The folder with a folder for each task.
        task: "classifier" or "language_model", where only that one will do.

    Raises:
        ArtifactError: There is no such model, it is not whole, it is refused, or its tokenizer is not the one of its
            training.
        TrackingError: A registered package is not there, or the store cannot be reached.
    """
    # By its name: an import would make TensorFlow, and all code below it, a part of everything that imports elman.
    importlib.import_module("elman.stages").quiet_tensorflow()
    loading = importlib.import_module("elman.packages.loading")
    if not str(name).startswith("models:/"):
        return loading.load(name, models=models, task=task)
    with importlib.import_module("elman.tracking.named").fetched(str(name), root=Path()) as folder:
        loaded = loading.load(folder, task=task)
    loaded.folder = Path(name)  # the copy is gone
    return loaded


def train(params: Any, *, task: str, cell: str, out: Any) -> Any:
    """Trains a cell as the pipeline does, without DVC and MLflow, and loads it; see `elman.using.train.train`.

    Args:
        params: From `elman.config`: `load_params` of a params.yaml, or `parse_params` of the same as a dict.
        task: "classifier" or "language_model".
        cell: "simple_rnn", "lstm" or "gru".
        out: Folder for prepared text, tokenizer and models.

    Raises:
        ElmanError: Data or params are wrong, or training diverged; each says which.
    """
    importlib.import_module("elman.stages").quiet_tensorflow()
    return importlib.import_module("elman.using.train").train(params, task=task, cell=cell, out=out)


def __getattr__(name: str) -> Any:
    """`elman.Stream`, a text that is read as it comes: TensorFlow is loaded when it is first asked for."""
    if name == "Stream":
        importlib.import_module("elman.stages").quiet_tensorflow()
        return importlib.import_module("elman.using.streaming.stream").Stream
    raise AttributeError(f"module 'elman' has no attribute {name!r}")
