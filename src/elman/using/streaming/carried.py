"""What a model carries from one piece of a text to the next, and how many texts are read side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from elman.data.tokenizer import BOS_ID, PAD_ID

ROWS = 256  # texts side by side
STEPS = 64  # tokens at a time

Array = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Carried:
    """The state of one text, of the same size at any length of it.

    Attributes:
        state: float32 (U,) each. The recurrent layers' states.
        pooled: float32 (U,) each. A classifier's sum and maximum over the steps.
        last: The token that is read next: the one before the next one that comes.
        num_tokens: Of this text, so far.
        nll_nats: Of these tokens; a language model's.
    """

    state: tuple[Array, ...]
    pooled: tuple[Array, ...] = ()
    last: int = BOS_ID
    num_tokens: int = 0
    nll_nats: float = 0.0


class Reader(Protocol):
    """A model that reads texts as they come."""

    def start(self) -> Carried:
        """At the beginning of a text."""

    def read(self, carried: Sequence[Carried], ids: Sequence[Ids], *, ended: bool) -> tuple[list[Any], list[Carried]]:
        """What is said after more tokens of each text, and what is carried on; `ended`: the texts end with them."""


class Part(NamedTuple):
    """Tokens of some texts, side by side.

    Attributes:
        rows: int (b,). Which texts.
        start: How many of their tokens came in parts before.
        mask: bool (b, T). True at tokens; each row has one or more.
    """

    rows: npt.NDArray[np.int64]
    start: int
    mask: npt.NDArray[np.bool_]

    def padded(self, sequences: Sequence[Ids]) -> Ids:
        """The tokens of this part, int32 (b, T), padded on the right."""
        found = np.full(self.mask.shape, PAD_ID, np.int32)
        for place, row in enumerate(self.rows):
            ids = sequences[row][self.start : self.start + self.mask.shape[1]]
            found[place, : len(ids)] = ids
        return found


def side_by_side(sequences: Sequence[Ids]) -> Iterator[Part]:
    """All tokens once, in order; those of about equally many tokens stand together, and empty ones in no part."""
    lengths = np.array([len(ids) for ids in sequences], np.int64)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    for first in range(0, len(order), ROWS):
        rows = order[first : first + ROWS]
        for start in range(0, int(lengths[rows[0]]), STEPS):
            rows = rows[lengths[rows] > start]  # those that go on are always the first ones
            longest = min(int(lengths[rows[0]]) - start, STEPS)
            yield Part(rows, start, start + np.arange(longest) < lengths[rows, None])


def stacked(vectors: Sequence[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Vectors of b texts, (U,) each, as arrays (b, U)."""
    return tuple(np.stack(parts) for parts in zip(*vectors, strict=True))


def rows_of(arrays: Sequence[Any]) -> list[tuple[Array, ...]]:
    """The inverse of `stacked`, in float32; copies, so that no text keeps the arrays of all others in memory."""
    plain = [tf.cast(array, tf.float32).numpy() for array in arrays]
    return [tuple(array[place].copy() for array in plain) for place in range(len(plain[0]))]
