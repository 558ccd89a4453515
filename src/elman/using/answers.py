"""What a model says of one text."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from elman.metrics.perplexity import perplexity_block

Block = dict[str, float | int | bool | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Classification:
    """The class of a text.

    Attributes:
        label: The most probable class.
        probability: Of that class.
        probabilities: Of all classes, in the order of labels.json; they sum to 1.
        num_tokens: Of the text, eos included.
        num_tokens_read: What the model saw of them: at most its max_length.
    """

    label: str
    probability: float
    probabilities: dict[str, float]
    num_tokens: int
    num_tokens_read: int

    @property
    def cut(self) -> bool:
        """Whether the text is longer than what the model reads."""
        return self.num_tokens_read < self.num_tokens

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "label": self.label,
            "probability": self.probability,
            "probabilities": self.probabilities,
            "num_tokens": self.num_tokens,
            "num_tokens_read": self.num_tokens_read,
            "cut": self.cut,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """How well a language model predicts a text, token by token, its eos included.

    Attributes:
        nll_nats: The negative log-likelihood of the whole text.
        pieces: The tokens as text, with `▁` for a space.
        token_nll_nats: Of each token, given those before it.
        num_words: Words separated by white space, and one eos.
        num_bytes: UTF-8 bytes of the cleaned text, and one eos.
        num_unk: Tokens that stand for characters or words which the tokenizer does not know.
    """

    nll_nats: float
    pieces: tuple[str, ...]
    token_nll_nats: tuple[float, ...]
    num_words: int
    num_bytes: int
    num_unk: int

    @property
    def num_tokens(self) -> int:
        """Tokens that were predicted."""
        return len(self.pieces)

    @property
    def measures(self) -> Block:
        """The perplexity block of this text."""
        return score_together([self])

    @property
    def perplexity(self) -> float | None:
        """Exp of the nats a token; None where that is no float any more."""
        return self.measures["perplexity"]

    @property
    def bits_per_byte(self) -> float:
        """What it would take to store the text by this model."""
        return self.nll_nats / math.log(2.0) / self.num_bytes

    def to_json(self, *, tokens: bool) -> dict[str, Any]:
        """Plain values; `tokens` says whether each token is among them."""
        values: dict[str, Any] = {"nll_nats": self.nll_nats, **self.measures}
        if tokens:
            pairs = zip(self.pieces, self.token_nll_nats, strict=True)
            values["tokens"] = [{"piece": piece, "nll_nats": nats} for piece, nats in pairs]
        return values


class ScoreSum:
    """Scores of texts added up, one by one.

    Attributes:
        num_documents: Texts so far.
    """

    def __init__(self) -> None:
        self.nll_nats = 0.0
        self.num_documents = 0
        self._counts = dict.fromkeys(("num_tokens", "num_words", "num_bytes", "num_unk"), 0)

    def add(self, score: Score) -> None:
        """Takes one text in."""
        self.nll_nats += score.nll_nats
        self.num_documents += 1
        for name in self._counts:
            self._counts[name] += getattr(score, name)

    def measures(self) -> Block:
        """The perplexity block of all texts: what the evaluate stage gives for a split of these documents.

        Raises:
            MetricError: There are no texts, or a score is not finite.
        """
        return perplexity_block(nll_nats=self.nll_nats, num_documents=self.num_documents, **self._counts)


def score_together(scores: Iterable[Score]) -> Block:
    """The perplexity block of several texts; see `ScoreSum.measures`."""
    added = ScoreSum()
    for score in scores:
        added.add(score)
    return added.measures()
