"""`elman.Stream`: a text that is read as it comes."""

import copy
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np

from elman.artifacts import replacing
from elman.errors import ArtifactError, DataError
from elman.using.streaming.incremental_cleaning import IncrementalCleaning
from elman.using.streaming.incremental_tokens import Ids, IncrementalTokens
from elman.using.streaming.saved import from_bytes, to_bytes
from elman.using.text_classifier import TextClassifier
from elman.using.text_language_model import TextLanguageModel
from elman.using.texts import Refused, checked


class Stream:
    """One text, fed piece by piece to a language model or to a classifier that reads in one direction.

    A language model gives the surprise of each token as soon as it is certain, a classifier the probabilities of the
    classes as if the text ended after the last token that is certain. What is said does not depend on the pieces in
    which the text comes, and the end of it is what `score` and `classify` say of the whole text.

    A word is certain when the space after it has come; `finish` ends the text. The stream holds the model's state and
    at most some thousands of characters, whatever the length of the text.

    Args:
        model: From `elman.load`.

    Raises:
        ArtifactError: The classifier is bidirectional.
        DataError: `model` is something else, such as a model's name.
        TokenizerError: The tokenizer has pieces that reach across spaces.

    Example:
        stream = elman.Stream(elman.load("lstm", task="language_model"))
        for piece in pieces:
            for token in stream.feed(piece):
                print(token.piece, token.nll_nats)
        stream.finish()
    """

    def __init__(self, model: TextLanguageModel | TextClassifier) -> None:
        if not isinstance(model, TextLanguageModel | TextClassifier):
            raise DataError(f"model: what elman.load gives is needed, but came {type(model).__name__}")
        self._model = model
        self._reader = model.reader
        self._cleaning = IncrementalCleaning(model.serving.cleaning)
        self._tokens = IncrementalTokens(model.part_encoder)
        self._carried = self._reader.start()

    @property
    def num_tokens(self) -> int:
        """Tokens of this text that are certain."""
        return self._carried.num_tokens

    @property
    def nll_nats(self) -> float:
        """A language model's negative log-likelihood of these tokens."""
        return self._carried.nll_nats

    def feed(self, text: str) -> Any:
        """Takes the next piece of the text.

        Returns:
            Language model: a list of `Surprise`, one for each token that became certain, often none. Classifier: a
            `Classification` of the text so far.

        Raises:
            DataError: The piece is no text, or holds half of a surrogate pair; the stream stays as it was.
        """
        return self.feed_many([self], [text])[0]

    def finish(self) -> Any:
        """Ends the text: what `feed` returns, for the rest of it and its eos. What is fed next is a new text.

        A language model that was trained with `state: stream` carries its state into the new text, any other model
        begins it at the zero state.
        """
        return self.finish_many([self])[0]

    @staticmethod
    def feed_many(streams: Sequence["Stream"], texts: Sequence[str]) -> list[Any]:
        """As `feed` for many streams of one model, side by side in one batch: thousands cost little more than one.

        Args:
            streams: Different streams of one model.
            texts: The next piece of each.

        Returns:
            What `feed` returns, for each stream.

        Raises:
            DataError: A piece is no text, or the streams are not of one model; all streams stay as they were.
        """
        _check(streams)
        if len(streams) != len(texts):
            raise DataError(f"a piece for each stream is needed; came {len(streams)} streams and {len(texts)} pieces")
        for row, text in enumerate(texts, start=1):
            found = checked(text)
            if isinstance(found, Refused):
                raise DataError(f"piece {row}: {found.reason}")
        ids = [one._next_tokens(text) for one, text in zip(streams, texts, strict=True)]
        return _read(streams, ids, ended=False)

    @staticmethod
    def finish_many(streams: Sequence["Stream"]) -> list[Any]:
        """As `finish` for many streams of one model, side by side in one batch."""
        _check(streams)
        return _read(streams, [stream._last_tokens() for stream in streams], ended=True)

    def _next_tokens(self, text: str) -> Ids:
        clean = self._cleaning.feed(text)
        return self._tokens.feed(clean, whole_words=self._cleaning.whole_words)

    def _last_tokens(self) -> Ids:
        return np.concatenate([self._tokens.feed(self._cleaning.finish()), self._tokens.finish()])

    def fork(self) -> Self:
        """Another stream with the same past; what is fed to one is not seen by the other."""
        other = copy.copy(self)
        other._cleaning, other._tokens = copy.copy(self._cleaning), copy.copy(self._tokens)
        return other

    def to_bytes(self) -> bytes:
        """The state, for `from_bytes` of the same model, in this or another process."""
        held = {"cleaning": asdict(self._cleaning), "tokens": _plain(self._tokens)}
        held["cleaning"].pop("cleaning")
        return to_bytes(self._carried, held, model=self._model.fingerprint)

    @classmethod
    def from_bytes(cls, model: TextLanguageModel | TextClassifier, data: bytes, *, source: str = "stream") -> Self:
        """The stream that `to_bytes` was called of.

        Raises:
            ArtifactError: The bytes are damaged, or the state of another model; `source` is named.
        """
        stream = cls(model)
        carried, held = from_bytes(data, like=stream._carried, model=model.fingerprint, source=source)
        try:
            stream._cleaning = IncrementalCleaning(cleaning=model.serving.cleaning, **held.pop("cleaning"))
            stream._tokens = IncrementalTokens(encoder=model.part_encoder, **held.pop("tokens"))
        except (KeyError, TypeError) as error:
            raise ArtifactError(f"{source}: damaged: {error}; begin a new stream") from None
        stream._carried = carried
        return stream

    def save(self, path: str | Path) -> None:
        """Writes `to_bytes` to a file, whole or not at all."""
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(self.to_bytes())

    @classmethod
    def load(cls, model: TextLanguageModel | TextClassifier, path: str | Path) -> Self:
        """The stream that was saved.

        Raises:
            ArtifactError: There is no such file, it is damaged, or it is of another model.
        """
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            raise ArtifactError(f"{path}: no such file; save a stream there first") from None
        return cls.from_bytes(model, data, source=str(path))


def _check(streams: Sequence[Stream]) -> None:
    if len({id(stream) for stream in streams}) < len(streams):
        raise DataError("a stream stands there twice; feed it one piece after the other")
    if len({id(stream._reader) for stream in streams}) > 1:
        raise DataError("the streams are of different models; feed those of each model together")


def _read(streams: Sequence[Stream], ids: list[Ids], *, ended: bool) -> list[Any]:
    if not streams:
        return []
    answers, carried = streams[0]._reader.read([stream._carried for stream in streams], ids, ended=ended)
    for stream, new in zip(streams, carried, strict=True):
        stream._carried = new
    return answers


def _plain(tokens: IncrementalTokens) -> dict[str, Any]:
    names = ("held", "begun", "inside", "unknown")
    return {name: getattr(tokens, name) for name in names}
