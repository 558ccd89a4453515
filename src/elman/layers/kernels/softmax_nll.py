"""Softmax and cross-entropy over a large vocabulary, with gradients, in two passes that stay in the nearest caches.

The vocabulary is cut into tiles of a few hundred words. With z the logits of a row, the first pass goes through rows
and, for each block of them, through the tiles: it keeps e = exp(z - m), where m is the largest logit of the row so far,
and adds up the row's total. The second pass goes through tiles and, for each of them, through the blocks: probabilities
are e times one factor for each row and tile, which it gives to the states instead of to the words. Rows are shared out
to threads in the first pass and tiles in the second, so that each part of the vocabulary's gradient has one writer.

The usual way writes and reads an array of the size of all logits about ten times; this one writes it once and reads it
once. Many rows are worked on in chunks, so that memory stays bounded.
"""

import numpy as np

from elman.layers.kernels import buffers
from elman.layers.kernels.buffers import Array
from elman.layers.kernels.matmul import PANEL
from elman.layers.kernels.softmax_passes import (
    BLOCK_ROWS,
    TILE,
    add_gradients,
    pack_panels_of,
    score_rows,
    subtract_targets,
)
from elman.layers.kernels.threads import run_parts

# Exponentials that are kept from the first pass to the second: 32 MB.
_KEPT = 8 * 1024 * 1024


class _Workspace:
    """Large arrays that are used again in the next step: new memory of this size costs as much as a product.

    An array is out of the list while someone works with it, so that two threads never share one.
    """

    def __init__(self) -> None:
        self._free: list[Array] = []

    def take(self, *shape: int) -> Array:
        """Return an uninitialised float32 array."""
        size = int(np.prod(shape))
        try:
            flat = self._free.pop()
        except IndexError:  # asked for in one step with the taking: another thread may take the last one in between
            flat = np.empty(0, np.float32)
        if flat.size < size:
            flat = np.empty(size, np.float32)
        return flat[:size].reshape(shape)

    def give_back(self, array: Array) -> None:
        """Keep the memory of `array` for the next one who asks."""
        flat = array.base
        if flat is not None and len(self._free) < 2:
            self._free.append(flat)


_workspace = _Workspace()


def softmax_nll(
    hidden: Array, matrix: Array, bias: Array, targets: Array, *, gradients: bool, threads: int
) -> tuple[Array, Array, Array, Array]:
    """Score targets under softmax(hidden matrix^T + bias), with the gradients of the summed score.

    Args:
        hidden: float32 (N, U).
        matrix: float32 (V, U).
        bias: float32 (V,).
        targets: int32 (N,), each in 0..V-1; anything else is a ValueError, as it would lead beside the arrays.
        gradients: Whether the gradients are wanted; they are empty otherwise.
        threads: At most so many work at once.

    Returns:
        float32 (N,) negative log-likelihoods in nats; and the gradients of their sum by hidden, matrix and bias.
    """
    (count, units), size = hidden.shape, matrix.shape[0]
    if count and not 0 <= targets.min() <= targets.max() < size:
        raise ValueError(f"targets must be in 0..{size - 1}; came {targets.min()} to {targets.max()}")
    tiles = -(-size // TILE)
    width = -(-units // PANEL) * PANEL
    panels = _workspace.take(tiles * TILE // PANEL, units, PANEL)
    parts, edges = _edges(len(panels), threads)
    run_parts(lambda part: pack_panels_of(matrix, edges[part], edges[part + 1], panels), parts)
    nll = buffers.empty(count)
    d_hidden = buffers.zeros(count if gradients else 0, width)
    make = buffers.empty if count else buffers.zeros  # without a row nobody writes them
    d_matrix = make(size if gradients else 0, units)
    d_bias = make(size if gradients else 0)
    chunk = max(BLOCK_ROWS, _KEPT // (tiles * TILE) // BLOCK_ROWS * BLOCK_ROWS) if gradients else max(1, count)
    for start in range(0, count, chunk):
        rows = slice(start, min(start + chunk, count))
        kept, factors = _score(hidden[rows], panels, bias, targets[rows], nll[rows], keep=gradients, threads=threads)
        if gradients:
            _differentiate(
                hidden[rows], matrix, kept, factors, d_hidden[rows], d_matrix, d_bias, again=start > 0, threads=threads
            )
        _workspace.give_back(kept)
    _workspace.give_back(panels)
    if not gradients:
        return nll, d_hidden[:, :units], d_matrix, d_bias
    subtract_targets(hidden, matrix, targets, d_hidden, d_matrix, d_bias)
    return nll, np.ascontiguousarray(d_hidden[:, :units]), d_matrix, d_bias


def _edges(items: int, threads: int, *, step: int = 1) -> tuple[int, Array]:
    """Return how many parts share `items` in units of `step`, and where each begins and ends."""
    units = -(-items // step)
    parts = max(1, min(threads, units))
    return parts, np.minimum(np.linspace(0, units, parts + 1).astype(np.int64) * step, items)


def _score(
    hidden: Array, panels: Array, bias: Array, targets: Array, nll: Array, *, keep: bool, threads: int
) -> tuple[Array, Array]:
    """Fill `nll`; return `kept` and `factors` for the second pass."""
    count, tiles = len(hidden), panels.shape[0] * PANEL // TILE
    parts, edges = _edges(count, threads, step=BLOCK_ROWS)
    kept = _workspace.take(*((tiles, count, TILE) if keep else (parts, 1, BLOCK_ROWS, TILE)))
    factors = np.empty((tiles, count if keep else 0), np.float32)

    def work(part: int) -> None:
        space = kept if keep else kept[part]
        score_rows(hidden, edges[part], edges[part + 1], panels, bias, targets, keep, nll, space, factors)

    run_parts(work, parts)
    return kept, factors


def _differentiate(
    hidden: Array, matrix: Array, kept: Array, factors: Array, d_hidden: Array, d_matrix: Array, d_bias: Array, *,
    again: bool, threads: int,
) -> None:  # fmt: skip
    """Add the probabilities' part of the gradients."""
    parts, edges = _edges(len(kept), threads)
    # One sum a thread, added in their order: the same, to the last bit, in every run.
    sums = [d_hidden, *(np.zeros_like(d_hidden) for _ in range(parts - 1))]

    def work(part: int) -> None:
        first, last = edges[part], edges[part + 1]
        add_gradients(hidden, matrix, kept, factors, first, last, again, sums[part], d_matrix, d_bias)

    run_parts(work, parts)
    for other in sums[1:]:
        d_hidden += other
