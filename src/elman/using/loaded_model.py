"""What a classifier and a language model that take text have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from elman.data.encoding import encode_texts
from elman.data.text_parts import PartEncoder
from elman.data.tokenizer import Tokenizer
from elman.models.store import Model
from elman.using.embedding import Embedder
from elman.using.locate import Located
from elman.using.streaming.saved import fingerprint
from elman.using.texts import Refused, in_order, pools


class LoadedModel(ABC):
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

    def embed_each(self, texts: Iterable[object]) -> Iterator[npt.NDArray[np.float32] | Refused]:
        """As `embed`, while texts come in: memory holds some thousands of them, a refused one stops nothing."""
        for pool in pools(texts, cleaning=self.serving.cleaning):
            yield from in_order(pool, self._embed(encode_texts(pool.texts, tokenizer=self.tokenizer)))

    @property
    @abstractmethod
    def _embed(self) -> Embedder:
        """How this kind of model embeds documents."""

    @cached_property
    def part_encoder(self) -> PartEncoder:
        """Encodes texts part by part."""
        return PartEncoder(self.tokenizer)

    @cached_property
    def fingerprint(self) -> str:
        """Names the model, with tokenizer and cleaning, whatever folder it was loaded from."""
        return fingerprint(self.model, self.tokenizer, self.serving)
