"""Small recurrent text models, trained reproducibly and compared honestly."""

import importlib
from typing import Any

__version__ = "0.1.0"


def load(name: Any, *, models: Any = "models", task: str | None = None) -> Any:
    """A trained model by its name, such as `lstm`, that takes text; TensorFlow is loaded by the first call.

    A classifier has `classify(texts)`, a language model `score(texts)`. See `elman.using.load.load`.

    Args:
        name: `lstm` or `classifier/lstm`: of the seeds, the one that is best on validation. Or a folder: a cell's, such
            as models/classifier/lstm, or a seed's in it.
        models: The folder with a folder for each task.
        task: "classifier" or "language_model", where only that one will do.

    Raises:
        ArtifactError: There is no such model, it is not whole, or its tokenizer is not the one of its training.
    """
    # By its name: an import would make TensorFlow, and all code below it, a part of everything that imports elman.
    importlib.import_module("elman.stages").quiet_tensorflow()
    return importlib.import_module("elman.using.load").load(name, models=models, task=task)
