import numpy as np
import pytest

from elman.retraining.class_floors import class_rows, hits_by_class
from elman.retraining.gate import ClassRow, DocumentScores

NAMES = ("large", "small", "absent")


def scores(large: int, small: int, *, of: tuple[int, int] = (200, 10), from_end: bool = False) -> DocumentScores:
    """So many documents of each class are right: the first ones, or the last ones."""
    right = [np.arange(size) < hits for hits, size in zip((large, small), of, strict=True)]
    both = np.concatenate([part[::-1] if from_end else part for part in right])
    labels = np.repeat([0, 1], of)
    return DocumentScores(ids=np.arange(len(labels)), labels=labels, predicted=np.where(both, labels, 1 - labels))


def rows(challenger: DocumentScores, champion: DocumentScores | None, **options: object) -> tuple[ClassRow, ...]:
    return class_rows(challenger, champion, class_names=NAMES, max_class_loss=0.1, level=0.95, **options)


def blocked(challenger: DocumentScores, champion: DocumentScores | None, **options: object) -> list[str]:
    return [row.name for row in rows(challenger, champion, **options) if row.problem]


def test_a_row_has_both_recalls_and_a_class_without_documents_has_none() -> None:
    large, small, absent = rows(scores(150, 7), scores(180, 9))
    assert (large.support, large.challenger_recall, large.champion_recall) == (200, 0.75, 0.9)
    assert large.difference == pytest.approx(-0.15)
    assert large.low < -0.15 < large.high < 0.0
    assert (small.support, small.difference) == (10, pytest.approx(-0.2))
    assert absent == ClassRow("absent", 0, None, None, None, None, None, None)


def test_a_class_that_lost_more_than_the_limit_blocks_and_says_so() -> None:
    (problem,) = [row.problem for row in rows(scores(150, 9), scores(180, 9)) if row.problem]
    assert "class large: 150 of 200 test documents are right, and the champion gets 180" in problem
    assert "0.1 at most (retraining.max_class_loss)" in problem


def test_a_loss_within_the_limit_does_not_block_however_certain_it_is() -> None:
    assert blocked(scores(162, 9), scores(180, 9)) == []
    assert blocked(scores(160, 9), scores(180, 9)) == []  # exactly the limit
    assert blocked(scores(159, 9), scores(180, 9)) == ["large"]


@pytest.mark.parametrize(("size", "lost", "blocks"), [(4, 1, False), (4, 3, False), (4, 4, True), (10, 3, False),
                                                      (10, 4, True), (3, 3, False)])  # fmt: skip
def test_of_a_small_class_four_documents_have_to_be_lost(size: int, lost: int, blocks: bool) -> None:
    champion, challenger = scores(180, size, of=(200, size)), scores(180, size - lost, of=(200, size))
    assert blocked(challenger, champion) == (["small"] if blocks else [])


def test_documents_won_stand_against_those_lost() -> None:
    # 6 of 10 both times, but other ones: 4 won and 4 lost are no loss.
    assert blocked(scores(180, 6, from_end=True), scores(180, 6)) == []


def test_a_class_that_slides_below_the_best_champion_blocks() -> None:
    best = hits_by_class(scores(190, 10), NAMES)
    assert best == {"large": (190, 200), "small": (10, 10)}
    # Against the last champion each loses one document; against the best one six are gone.
    assert blocked(scores(180, 4), scores(180, 5)) == []
    (problem,) = [row.problem for row in rows(scores(180, 4), scores(180, 5), best=best) if row.problem]
    assert "class small: 4 of 10 test documents are right, and the best champion so far got 10" in problem
    assert blocked(scores(180, 8), scores(180, 8), best=best) == []
    assert blocked(scores(180, 4), None, best=best) == ["small"]
