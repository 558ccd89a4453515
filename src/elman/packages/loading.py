"""Loads models that take text: packages with their checks, and what the pipeline left."""

from pathlib import Path

from elman.packages.finding import find
from elman.packages.package import MODEL, Package, open_package
from elman.packages.probes import check_probes
from elman.using.load import load_located
from elman.using.locate import Located
from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel

TextModel = TextClassifier | TextLanguageModel


def load(name: str | Path, *, models: str | Path = "models", task: str | None = None) -> TextModel:
    """Loads a model with its tokenizer, labels and cleaning; no code from its folder is run.

    Args:
        name: `lstm` or `classifier/lstm`: of the seeds, the one that is best on validation. Or a folder: a package's, a
            cell's, such as models/classifier/lstm, or a seed's in it.
        models: The folder with a folder for each task.
        task: "classifier" or "language_model", where only that one will do.

    Raises:
        ArtifactError: There is no such model, it is not whole, or it is refused.
        TokenizerError: The tokenizer is damaged.
    """
    return load_found(find(name, models=Path(models), task=task))


def load_package(folder: Path) -> TextModel:
    """Opens a package (`open_package`), loads it, and compares the model's predictions with the stored ones.

    Raises:
        ArtifactError: The package is refused, or a prediction differs.
        TokenizerError: The tokenizer cannot be used.
    """
    return load_found(open_package(folder))


def load_found(found: Package | Located) -> TextModel:
    """Loads what `find` found; see `load`."""
    if isinstance(found, Located):
        return load_located(found)
    model = load_located(Located(found.folder / MODEL, found.seed, found.serving, None))
    check_probes(model, found)
    model.folder = found.folder
    return model
