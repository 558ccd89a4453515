"""A trained classifier that takes text."""

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from elman.data.encoding import encode_texts
from elman.data.tokenizer import Tokenizer
from elman.errors import ArtifactError, MetricError
from elman.evaluation.classifier import BATCH_SIZE, score_documents
from elman.models.classifier import Classifier
from elman.models.scoring import make_classifier_scorer
from elman.using.answers import Classification
from elman.using.embedding import Embedder, classifier_embedder
from elman.using.loaded_model import LoadedModel
from elman.using.locate import Located
from elman.using.streaming.class_reader import ClassReader
from elman.using.texts import Pool, Refused, all_or_error, in_order, pools


class TextClassifier(LoadedModel):
    """A classifier with its tokenizer and labels; `elman.load` makes it.

    Attributes:
        model: The Keras model.
        tokenizer: The one that it was trained with.
        labels: Names of the classes, by number.
        max_length: Tokens of a text that it reads, eos included; what is longer is cut.
        seed: Of its training.
        folder: Where it was loaded from.
    """

    task = "classifier"
    model: Classifier

    def __init__(self, model: Classifier, tokenizer: Tokenizer, found: Located) -> None:
        serving = found.serving
        if serving.labels is None or serving.max_length is None or len(serving.labels) != model.spec.num_classes:
            raise ArtifactError(
                f"{found.folder}: the model has {model.spec.num_classes} classes, serving.json names "
                f"{len(serving.labels or ())}; run `dvc repro`"
            )
        super().__init__(model, tokenizer, found)
        self.labels, self.max_length = serving.labels, serving.max_length
        self._score = make_classifier_scorer(model)

    def classify(self, texts: Iterable[str], *, batch_size: int = BATCH_SIZE) -> list[Classification]:
        """The class of each text, in order.

        Texts are cleaned as the model's own were. An empty one, or one of unknown characters only, has an answer too.

        Args:
            texts: Any number of texts of any length.
            batch_size: Texts at a time; the result does not depend on it.

        Raises:
            DataError: One text came instead of several, or a row is no text; the row is named.
            MetricError: The model's outputs are not finite.
        """
        return all_or_error(self.classify_each(texts, batch_size=batch_size))

    def classify_each(
        self, texts: Iterable[object], *, batch_size: int = BATCH_SIZE
    ) -> Iterator[Classification | Refused]:
        """As `classify`, while texts come in: memory holds some thousands of them, a refused one stops nothing."""
        for pool in pools(texts, cleaning=self.serving.cleaning):
            yield from in_order(pool, self._classify_pool(pool, batch_size))

    def embed(self, texts: Iterable[str]) -> npt.NDArray[np.float32]:
        """float32 (N, P): what the classes of each text are told from, the pooled outputs of the encoder.

        P is units, twice that where the classifier reads in both directions, and three times that with pooling `all`.
        Texts are cleaned as the model's own were, and what is longer than max_length is cut.

        Raises:
            DataError: One text came instead of several, or a row is no text; the row is named.
        """
        rows = all_or_error(self.embed_each(texts))
        return np.stack(rows) if rows else np.zeros((0, self.embedding_dim), np.float32)

    @property
    def embedding_dim(self) -> int:
        """Numbers of an embedding."""
        return int(self.model.encoder.output_dim * (3 if self.model.spec.pooling == "all" else 1))

    @cached_property
    def _embed(self) -> Embedder:
        return classifier_embedder(self.model, max_length=self.max_length, batch_size=BATCH_SIZE)

    @cached_property
    def reader(self) -> ClassReader:
        """Reads texts as they come; what `elman.Stream` uses.

        Raises:
            ArtifactError: The classifier is bidirectional.
        """
        return ClassReader(self.model, self.labels, max_length=self.max_length)

    def _classify_pool(self, pool: Pool, batch_size: int) -> Iterator[Classification]:
        if not pool.texts:
            return
        documents = encode_texts(pool.texts, tokenizer=self.tokenizer)
        scores = score_documents(self._score, documents, max_length=self.max_length, batch_size=batch_size)
        probabilities = np.exp(scores.log_probabilities.astype(np.float64))  # (N, C)
        if not np.isfinite(probabilities).all():
            raise MetricError(f"{self.folder}: the model's outputs are not finite")
        rows = zip(probabilities.tolist(), scores.predicted.tolist(), documents.lengths.tolist(), strict=True)
        for row, predicted, length in rows:
            yield Classification(
                label=self.labels[predicted],
                probability=row[predicted],
                probabilities=dict(zip(self.labels, row, strict=True)),
                num_tokens=length,
                num_tokens_read=min(length, self.max_length),
            )
