"""Windows for truncated backpropagation through time: one loader for training and for evaluation.

A document of tokens t1..tn has the inputs bos, t1..tn and the targets t1..tn, eos; every target stands in exactly one
window. Rows run side by side. A row reads segments; the carried state is zero at the first window of a segment, and no
window crosses a segment's end.

- `stream`: all documents in order are one stream, cut into `rows` contiguous segments, equal in size but for one token.
- `document`: a segment is a document. Documents of about one length form a group of up to `rows`, which starts and ends
  together. A group of longest document L takes k = ceil(L / window_length) windows of about equal length, rounded up
  to `ROUND_TO` steps: little is padding, no window is much shorter than the others, and few window lengths occur.

Rows of a group stand longest first. A row that has no more tokens leaves the batch, so a row of length 0 never reaches
a model, and the rows that go on are always the first ones.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.data.sequences import EncodedDocuments
from elman.data.tokenizer import BOS_ID, PAD_ID
from elman.seeding import generator

Mode = Literal["document", "stream"]

POOL_GROUPS = 50  # groups sorted by length together in training; more means less padding and less random groups
ROUND_TO = 4  # steps; the length of a window is a multiple of it, or window_length


class Window(NamedTuple):
    """b rows of T steps, padded on the right.

    Attributes:
        token_ids: int32 (b, T). Inputs, pad where `padding_mask` is False.
        targets: int32 (b, T). What follows each input, pad where `padding_mask` is False.
        padding_mask: bool (b, T). True at real steps; every row has at least one.
        places: int64 (b, T). Where each target stands in the split's flat `token_ids`; -1 at padding.
        keep: int32 (b,). Which row of the window before goes on in this row; 0 where `reset`.
        reset: bool (b,). True where a segment starts, that is where the carried state is zero.
    """

    token_ids: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    padding_mask: npt.NDArray[np.bool_]
    places: npt.NDArray[np.int64]
    keep: npt.NDArray[np.int32]
    reset: npt.NDArray[np.bool_]


class _Group(NamedTuple):
    """Segments that start together, longest first."""

    starts: npt.NDArray[np.int64]  # (rows,) places in the flat token ids
    lengths: npt.NDArray[np.int64]  # (rows,) targets
    window_length: int


def training_windows(
    documents: EncodedDocuments, *, mode: Mode, rows: int, window_length: int, seed: int, epoch: int
) -> Iterator[Window]:
    """All targets once; the order is a function of `seed` and `epoch` (in `stream` it is the order of the documents).

    Args:
        documents: Documents, not cut.
        mode: `document` or `stream`.
        rows: Rows side by side, at most.
        window_length: Steps of backpropagation through time, at most.
        seed: Names the orders of a run.
        epoch: Number of the epoch.
    """
    groups = _training_groups(documents, mode=mode, rows=rows, window_length=window_length, seed=seed, epoch=epoch)
    for group in groups:
        yield from _windows(documents, group)


def evaluation_windows(documents: EncodedDocuments, *, mode: Mode, rows: int, window_length: int) -> Iterator[Window]:
    """All targets once, always in the same order.

    What a target is conditioned on does not depend on `rows`: in `stream` mode the whole stream is one row, whatever
    `rows` says; in `document` mode documents do not see each other.
    """
    if mode == "stream":
        groups = iter(_stream(documents, rows=1, window_length=window_length))
    else:
        order = np.argsort(documents.lengths, kind="stable")
        groups = iter(_groups(documents, order, rows=rows, window_length=window_length))
    for group in groups:
        yield from _windows(documents, group)


def padding_fraction(windows: Iterable[Window]) -> float:
    """Share of the steps of all windows that are padding."""
    real = total = 0
    for window in windows:
        real += int(np.count_nonzero(window.padding_mask))
        total += window.padding_mask.size
    return 1.0 - real / total if total else 0.0


def _training_groups(
    documents: EncodedDocuments, *, mode: Mode, rows: int, window_length: int, seed: int, epoch: int
) -> list[_Group]:
    if mode == "stream":
        return _stream(documents, rows=rows, window_length=window_length)
    random = generator(seed, "stream_windows", epoch)
    order = random.permutation(len(documents))
    lengths = documents.lengths
    groups: list[_Group] = []
    for start in range(0, len(order), POOL_GROUPS * rows):
        pool = order[start : start + POOL_GROUPS * rows]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        groups.extend(_groups(documents, pool, rows=rows, window_length=window_length))
    return [groups[number] for number in random.permutation(len(groups))]


def _stream(documents: EncodedDocuments, *, rows: int, window_length: int) -> list[_Group]:
    rows = min(rows, documents.num_tokens)
    if rows == 0:
        return []
    size, longer = divmod(documents.num_tokens, rows)
    lengths = np.full(rows, size, np.int64)
    lengths[:longer] += 1
    return [_Group(np.cumsum(lengths) - lengths, lengths, window_length)]


def _groups(
    documents: EncodedDocuments, order: npt.NDArray[np.int64], *, rows: int, window_length: int
) -> Iterator[_Group]:
    """Groups of `rows` documents; `order` names them by rising length."""
    lengths = documents.lengths
    for first in range(0, len(order), rows):
        members = order[first : first + rows][::-1]
        longest = int(lengths[members[0]])
        windows = -(-longest // window_length)
        even = -(-longest // windows)
        rounded = min(-(-even // ROUND_TO) * ROUND_TO, window_length)
        yield _Group(documents.offsets[members], lengths[members], rounded)


def _windows(documents: EncodedDocuments, group: _Group) -> Iterator[Window]:
    starts, lengths, window_length = group
    longest = int(lengths[0])
    for done in range(0, longest, window_length):
        active = int(np.count_nonzero(lengths > done))  # b; a prefix, since rows stand longest first
        rest = longest - done
        steps = done + np.arange(min(-(-rest // ROUND_TO) * ROUND_TO, window_length))  # (T,)
        padding_mask = steps < lengths[:active, None]  # (b, T)
        places = np.where(padding_mask, starts[:active, None] + steps, 0)  # (b, T)
        owners = np.searchsorted(documents.offsets, places, side="right") - 1  # (b, T)
        at_start = places == documents.offsets[owners]  # (b, T)
        inputs = np.where(at_start, BOS_ID, documents.token_ids[places - 1])
        yield Window(
            token_ids=np.where(padding_mask, inputs, PAD_ID).astype(np.int32),
            targets=np.where(padding_mask, documents.token_ids[places], PAD_ID).astype(np.int32),
            padding_mask=padding_mask,
            places=np.where(padding_mask, places, -1),
            keep=np.zeros(active, np.int32) if done == 0 else np.arange(active, dtype=np.int32),
            reset=np.full(active, done == 0),
        )
