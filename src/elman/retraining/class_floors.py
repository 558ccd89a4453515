"""The floor of each class: whether a challenger has lost documents of a class that its overall score hides."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import special

from elman.metrics.paired_proportions import paired_proportions
from elman.retraining.document_scores import DocumentScores
from elman.retraining.gate_result import ClassRow

_ROUNDING = 1e-9  # a loss of exactly the limit is none above it


def class_rows(
    challenger: DocumentScores,
    champion: DocumentScores | None,
    *,
    class_names: Sequence[str],
    max_class_loss: float,
    level: float,
    best: Mapping[str, tuple[int, int]] | None = None,
) -> tuple[ClassRow, ...]:
    """A row a class, each with its problem where it has one.

    A class stands against a promotion where its recall has fallen by more than `max_class_loss` and the interval of
    that fall lies wholly below 0, so that chance does not explain it. The first alone would let one document in a
    class of four block every night, above all after a champion that had luck with it; the second alone would let a
    large class fall by any amount that its interval still doubts. At a level of 0.95 four documents have to be lost,
    and none won, before a class of ten or fewer blocks; a class of three or fewer never does.

    Args:
        challenger: On N documents.
        champion: On the same, in the same order; None without one.
        class_names: By class id.
        max_class_loss: Recall that a class may lose.
        level: Of the intervals.
        best: Hits and documents of each class under the best champion so far. The two are not paired, so that they are
            compared as if they were independent, which blocks less readily.
    """
    assert challenger.labels is not None
    rows = []
    for number, name in enumerate(class_names):
        members = challenger.labels == number
        support = int(members.sum())
        if support == 0:
            rows.append(ClassRow(name, 0, None, None, None, None, None, None))
            continue
        ours = challenger.right[members]
        hits = int(ours.sum())
        theirs = None if champion is None else champion.right[members]
        low = high = difference = recall = None
        losses = []
        if theirs is not None:
            recall = float(theirs.mean())
            difference, low, high = paired_proportions(
                only_first=int((ours & ~theirs).sum()),
                only_second=int((theirs & ~ours).sum()),
                documents=support,
                level=level,
            )
            if difference < -max_class_loss - _ROUNDING and high < 0.0:
                losses.append(f"the champion gets {int(theirs.sum())}")
        best_hits, best_support = (best or {}).get(name, (0, 0))
        if best_support == support and _fell(best_hits, hits, support, limit=max_class_loss, level=level):
            losses.append(f"the best champion so far got {best_hits}")
        problem = None
        if losses:
            problem = (
                f"class {name}: {hits} of {support} test documents are right, and {' and '.join(losses)}; a recall "
                f"may fall by {max_class_loss:g} at most (retraining.max_class_loss)"
            )
        rows.append(ClassRow(name, support, hits / support, recall, difference, low, high, problem))
    return tuple(rows)


def hits_by_class(scores: DocumentScores, class_names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Hits and documents of each class that the test set holds."""
    assert scores.labels is not None
    support = np.bincount(scores.labels, minlength=len(class_names))
    hits = np.bincount(scores.labels[scores.right], minlength=len(class_names))
    return {name: (int(hits[k]), int(support[k])) for k, name in enumerate(class_names) if support[k]}


def _fell(before: int, now: int, support: int, *, limit: float, level: float) -> bool:
    """Whether the second of two independent counts has fallen by more than the limit and by more than chance."""
    if before - now <= (limit + _ROUNDING) * support:
        return False
    share = (before + now) / (2 * support)
    spread = math.sqrt(2.0 * support * share * (1.0 - share))
    return before - now > float(special.ndtri((1.0 + level) / 2.0)) * spread
