"""What a classifier and a language model that take text have in common."""

from functools import cached_property

from elman.data.text_parts import PartEncoder
from elman.data.tokenizer import Tokenizer
from elman.models.store import Model
from elman.using.locate import Located
from elman.using.streaming.saved import fingerprint


class LoadedModel:
    """A model with its tokenizer, and where both came from; base of `TextClassifier` and `TextLanguageModel`.

    Attributes:
        model: The Keras model.
        tokenizer: The one that it was trained with.
        serving: What serving.json says of it.
        seed: Of its training.
        folder: Where it was loaded from.
    """

    model: Model

    def __init__(self, model: Model, tokenizer: Tokenizer, found: Located) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.serving, self.seed, self.folder = found.serving, found.seed, found.folder

    @cached_property
    def part_encoder(self) -> PartEncoder:
        """Encodes texts part by part."""
        return PartEncoder(self.tokenizer)

    @cached_property
    def fingerprint(self) -> str:
        """Names the model, with tokenizer and cleaning, whatever folder it was loaded from."""
        return fingerprint(self.model, self.tokenizer, self.serving)
