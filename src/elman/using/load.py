"""A trained model that was found, ready to take text."""

from collections.abc import Iterator
from contextlib import contextmanager

import keras

from elman.artifacts import read_json
from elman.data.tokenizer import METADATA_FILE, Tokenizer
from elman.errors import ArtifactError
from elman.models.classifier import Classifier
from elman.models.store import load_model
from elman.using.locate import Located
from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel


def load_located(found: Located) -> TextClassifier | TextLanguageModel:
    """Loads a model that was found, with its tokenizer, labels and cleaning; no code from its folder is run.

    Raises:
        ArtifactError: It is not whole, or its tokenizer is not the one of its training.
        TokenizerError: The tokenizer is damaged.
    """
    tokenizer = _tokenizer(found)
    with _precision("mixed_bfloat16" if found.serving.mixed_precision else "float32"):
        model = load_model(found.folder)
    if model.spec.vocab_size != tokenizer.vocab_size or model.spec.task != found.serving.task:
        raise ArtifactError(
            f"{found.folder}: a {model.spec.task} of {model.spec.vocab_size} pieces, but serving.json beside it is of "
            f"a {found.serving.task}, and the tokenizer has {tokenizer.vocab_size} pieces; run `dvc repro`"
        )
    if isinstance(model, Classifier):
        return TextClassifier(model, tokenizer, found)
    return TextLanguageModel(model, tokenizer, found)


def _tokenizer(found: Located) -> Tokenizer:
    wanted = found.serving.tokenizer
    folder = (found.folder.parent / wanted.path).resolve()
    metadata = read_json(folder / METADATA_FILE)
    digest = metadata.get("sha256") if isinstance(metadata, dict) else None
    if digest != wanted.sha256:
        raise ArtifactError(
            f"{folder}: another tokenizer (sha256 {digest}) than the one that {found.folder.parent} was trained with "
            f"({wanted.sha256}); run `dvc repro` to train with this one, or bring the old one back"
        )
    return Tokenizer.load(folder)


@contextmanager
def _precision(policy: str) -> Iterator[None]:
    before = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy(policy)
    try:
        yield
    finally:
        keras.mixed_precision.set_global_policy(before)
