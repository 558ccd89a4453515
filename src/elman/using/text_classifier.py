"""A trained classifier that takes text."""

from collections.abc import Iterable, Iterator

import numpy as np

from elman.data.encoding import encode_texts
from elman.data.tokenizer import Tokenizer
from elman.errors import ArtifactError
from elman.evaluation.classifier import BATCH_SIZE, score_documents
from elman.models.classifier import Classifier
from elman.models.scoring import make_classifier_scorer
from elman.using.answers import Classification
from elman.using.locate import Located
from elman.using.texts import Pool, Refused, all_or_error, in_order, pools


class TextClassifier:
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

    def __init__(self, model: Classifier, tokenizer: Tokenizer, found: Located) -> None:
        serving = found.serving
        if serving.labels is None or serving.max_length is None or len(serving.labels) != model.spec.num_classes:
            raise ArtifactError(
                f"{found.folder}: the model has {model.spec.num_classes} classes, serving.json names "
                f"{len(serving.labels or ())}; run `dvc repro`"
            )
        self.model, self.tokenizer = model, tokenizer
        self.labels, self.max_length = serving.labels, serving.max_length
        self.seed, self.folder = found.seed, found.folder
        self._cleaning = serving.cleaning
        self._score = make_classifier_scorer(model)

    def classify(self, texts: Iterable[str], *, batch_size: int = BATCH_SIZE) -> list[Classification]:
        """The class of each text, in order.

        Texts are cleaned as the model's own were. An empty one, or one of unknown characters only, has an answer too.

        Args:
            texts: Any number of texts of any length.
            batch_size: Texts at a time; the result does not depend on it.

        Raises:
            DataError: One text came instead of several, or a row is no text; the row is named.
        """
        return all_or_error(self.classify_each(texts, batch_size=batch_size))

    def classify_each(
        self, texts: Iterable[object], *, batch_size: int = BATCH_SIZE
    ) -> Iterator[Classification | Refused]:
        """As `classify`, while texts come in: memory holds some thousands of them, a refused one stops nothing."""
        for pool in pools(texts, cleaning=self._cleaning):
            yield from in_order(pool, self._classify_pool(pool, batch_size))

    def _classify_pool(self, pool: Pool, batch_size: int) -> Iterator[Classification]:
        if not pool.texts:
            return
        documents = encode_texts(pool.texts, tokenizer=self.tokenizer)
        scores = score_documents(self._score, documents, max_length=self.max_length, batch_size=batch_size)
        probabilities = np.exp(scores.log_probabilities.astype(np.float64))  # (N, C)
        rows = zip(probabilities.tolist(), scores.predicted.tolist(), documents.lengths.tolist(), strict=True)
        for row, predicted, length in rows:
            yield Classification(
                label=self.labels[predicted],
                probability=row[predicted],
                probabilities=dict(zip(self.labels, row, strict=True)),
                num_tokens=length,
                num_tokens_read=min(length, self.max_length),
            )
