"""A language model that reads texts as they come: the nats of each token."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from elman.data.tokenizer import BOS_ID, EOS_ID
from elman.errors import MetricError
from elman.models.encoder import Encoder
from elman.models.scoring import LanguageModelScorer
from elman.using.streaming.carried import Carried, Ids, rows_of, side_by_side, stacked


class Surprise(NamedTuple):
    """A token of a text, and how little it was expected.

    Attributes:
        piece: The token as text, with `▁` for a space.
        nll_nats: Its negative log-likelihood, given all tokens before it.
    """

    piece: str
    nll_nats: float


class SurpriseReader:
    """Nats of tokens, many texts side by side.

    Args:
        scorer: The compiled model.
        encoder: Its encoder.
        pieces: By id.
        state: Whether the state is zero at each text's start ("document"), or carried from text to text ("stream").
    """

    def __init__(
        self,
        scorer: LanguageModelScorer,
        encoder: Encoder,
        pieces: Sequence[str],
        *,
        state: Literal["document", "stream"],
    ) -> None:
        self._scorer, self._pieces, self._state = scorer, pieces, state
        self._zero = rows_of(encoder.zero_state(1))[0]

    def start(self) -> Carried:
        """The zero state; bos is read first."""
        return Carried(state=self._zero)

    def read(
        self, carried: Sequence[Carried], ids: Sequence[Ids], *, ended: bool
    ) -> tuple[list[list[Surprise]], list[Carried]]:
        """The surprise of each token, and what is carried on.

        Args:
            carried: Of each text.
            ids: int32 (T,) each. The tokens that come next.
            ended: Whether all texts end with them: then eos is scored too.

        Raises:
            MetricError: The model's outputs are not finite.
        """
        if ended:
            ids = [np.append(one, np.int32(EOS_ID)) for one in ids]
        inputs = [np.concatenate([[one.last], own])[: len(own)] for one, own in zip(carried, ids, strict=True)]
        states = [one.state for one in carried]
        nats: list[list[float]] = [[] for _ in ids]
        for part in side_by_side(ids):
            state = stacked([states[row] for row in part.rows])
            found, new = self._scorer.nll(part.padded(inputs), part.padded(ids), part.mask, state)
            parts = np.split(found, np.cumsum(part.mask.sum(axis=1))[:-1])
            for row, own, after in zip(part.rows, parts, rows_of(new), strict=True):
                nats[row] += own.tolist()
                states[row] = after
        if not all(np.isfinite(own).all() for own in nats):
            raise MetricError("the model's outputs are not finite")
        answers = [self._surprises(own, found) for own, found in zip(ids, nats, strict=True)]
        rows = zip(carried, states, ids, nats, strict=True)
        return answers, [self._after(*row, ended=ended) for row in rows]

    def _surprises(self, ids: Ids, nats: Sequence[float]) -> list[Surprise]:
        return [Surprise(self._pieces[number], value) for number, value in zip(ids.tolist(), nats, strict=True)]

    def _after(
        self, before: Carried, state: tuple[np.ndarray, ...], ids: Ids, nats: Sequence[float], *, ended: bool
    ) -> Carried:
        if ended:
            return Carried(state=self._zero if self._state == "document" else state, last=BOS_ID)
        return replace(
            before,
            state=state,
            last=int(ids[-1]) if len(ids) else before.last,
            num_tokens=before.num_tokens + len(ids),
            nll_nats=before.nll_nats + sum(nats),
        )
