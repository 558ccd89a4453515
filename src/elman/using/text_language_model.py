"""A trained language model that takes text."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from elman.data.encoding import encode_texts
from elman.data.sequences import EncodedDocuments, document_counts, document_sums
from elman.data.tokenizer import UNK_ID, Tokenizer
from elman.errors import ArtifactError, DataError, MetricError
from elman.evaluation.language_model import ROWS, score_tokens
from elman.models.encoder import State
from elman.models.language_model import LanguageModel
from elman.models.scoring import LanguageModelScorer
from elman.using.answers import Score
from elman.using.embedding import Embedder, language_model_embedder
from elman.using.generating.generated import Generated
from elman.using.generating.generator import Generator
from elman.using.generating.sampling import Kind, make_sampling
from elman.using.loaded_model import LoadedModel
from elman.using.locate import Located
from elman.using.streaming.surprise_reader import SurpriseReader
from elman.using.texts import Refused, all_or_error, in_order, pools

Carrying = Literal["document", "stream"]


class TextLanguageModel(LoadedModel):
    """A language model with its tokenizer; `elman.load` makes it.

    Attributes:
        model: The Keras model.
        tokenizer: The one that it was trained with.
        state: How it was trained: "document", each text from a zero state; "stream", carried from text to text.
        seed: Of its training.
        folder: Where it was loaded from.
    """

    task = "language_model"
    model: LanguageModel

    def __init__(self, model: LanguageModel, tokenizer: Tokenizer, found: Located) -> None:
        serving = found.serving
        if serving.state is None or serving.window_length is None:
            raise ArtifactError(f"{found.folder}: a language model, but serving.json beside it is of a classifier")
        super().__init__(model, tokenizer, found)
        self.state: Carrying = serving.state
        self._window_length = serving.window_length
        self._score_windows = LanguageModelScorer(model)

    def score(self, texts: Iterable[str], *, state: Carrying | None = None, rows: int = ROWS) -> list[Score]:
        """How well each text is predicted, in order; `elman.using.answers.score_together` adds them up.

        Texts are cleaned as the model's own were. An empty one is scored too: of it, the eos is predicted.

        Args:
            texts: Any number of texts of any length.
            state: "document": each text from a zero state. "stream": the texts are one text, and the state is carried.
                None: as the model was trained and evaluated.
            rows: Texts side by side; the result does not depend on it.

        Raises:
            DataError: One text came instead of several, or a row is no text; the row is named. `state` is another word.
            MetricError: The model's outputs are not finite.
        """
        return all_or_error(self.score_each(texts, state=state, rows=rows))

    def score_each(
        self, texts: Iterable[object], *, state: Carrying | None = None, rows: int = ROWS
    ) -> Iterator[Score | Refused]:
        """As `score`, while texts come in: memory holds some thousands of them, a refused one stops nothing."""
        if state not in (None, *get_args(Carrying)):
            raise DataError(f"state: {' or '.join(get_args(Carrying))} is needed, but came {state!r}")
        carried: State | None = None
        for pool in pools(texts, cleaning=self.serving.cleaning):
            documents = encode_texts(pool.texts, tokenizer=self.tokenizer)
            nats, carried = score_tokens(
                self._score_windows,
                documents,
                state=state or self.state,
                window_length=self._window_length,
                rows=rows,
                carried=carried,
            )
            if not np.isfinite(nats).all():
                raise MetricError(f"{self.folder}: the model's outputs are not finite")
            yield from in_order(pool, self._scores(documents, nats))

    def embed(self, texts: Iterable[str]) -> npt.NDArray[np.float32]:
        """float32 (N, U): the top layer's state after the last token of each text, each text from a zero state.

        It is what the end of the text is predicted from; its eos is not read. Texts are cleaned as the model's own.

        Raises:
            DataError: One text came instead of several, or a row is no text; the row is named.
        """
        rows = all_or_error(self.embed_each(texts))
        return np.stack(rows) if rows else np.zeros((0, self.embedding_dim), np.float32)

    @property
    def embedding_dim(self) -> int:
        """Numbers of an embedding."""
        return int(self.model.spec.units)

    @cached_property
    def _embed(self) -> Embedder:
        return language_model_embedder(self.model, window_length=self._window_length, rows=ROWS)

    def generate(
        self,
        prompt: str = "",
        *,
        samples: int = 1,
        max_tokens: int = 100,
        sampler: Kind = "top_p",
        seed: int = 1,
        **options: float,
    ) -> list[Generated]:
        """Goes on with a text, never with pad, bos or unk.

        Equal arguments give equal texts, and text i of several is text i of any other number of them, up to rounding
        where two tokens are equally probable. A step costs the same at any length.

        Args:
            prompt: What the text begins with; cleaned as the model's own texts. Empty: a text from its beginning. With
                white space at its end a new word follows, else its last word may go on.
            samples: How many texts. With beam: the most probable ones, at most as many as there are beams.
            max_tokens: How many tokens follow at most.
            sampler: greedy, random, top_k, top_p or beam, as in KerasHub.
            seed: Names the random numbers.
            **options: temperature, top_k, top_p, beams; see `elman.using.generating.sampling.Sampling`.

        Raises:
            ConfigError: An option is unknown or out of its range.
            DataError: The prompt is no text.
        """
        sampling = make_sampling(sampler=sampler, **options)
        start = self.generator.prompt(prompt)
        return self.generator.texts(start, sampling=sampling, samples=samples, max_tokens=max_tokens, seed=seed)

    @cached_property
    def generator(self) -> Generator:
        """Goes on with texts; its `chunks` gives them as they come."""
        return Generator(self.model, self.tokenizer, self.serving.cleaning)

    @cached_property
    def reader(self) -> SurpriseReader:
        """Reads texts as they come; what `elman.Stream` uses."""
        return SurpriseReader(self._score_windows, self.model.encoder, self._pieces, state=self.state)

    @cached_property
    def _pieces(self) -> list[str]:
        return [self.tokenizer.piece(number) for number in range(self.tokenizer.vocab_size)]

    def _scores(self, documents: EncodedDocuments, nats: np.ndarray) -> Iterator[Score]:
        sums, counts = document_sums(nats, documents), document_counts(documents)
        for place in range(len(documents)):
            here = slice(int(documents.offsets[place]), int(documents.offsets[place + 1]))
            token_ids = documents.token_ids[here]
            yield Score(
                nll_nats=float(sums[place]),
                pieces=tuple(self._pieces[number] for number in token_ids.tolist()),
                token_nll_nats=tuple(nats[here].tolist()),
                num_words=int(counts["num_words"][place]),
                num_bytes=int(counts["num_bytes"][place]),
                num_unk=int(np.count_nonzero(token_ids == UNK_ID)),
            )
