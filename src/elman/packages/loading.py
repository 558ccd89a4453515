"""Loads models that take text: packages with their checks, and what the pipeline left."""

from pathlib import Path

from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel

TextModel = TextClassifier | TextLanguageModel


def load_package(folder: Path) -> TextModel:
    """Opens a package (`open_package`), loads it, and compares the model's predictions with the stored ones.

    Raises:
        ArtifactError: The package is refused, or a prediction differs.
        TokenizerError: The tokenizer cannot be used.
    """
    raise NotImplementedError
