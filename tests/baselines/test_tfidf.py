import numpy as np
import pytest

from elman.baselines.tfidf import LabelledTexts, score_tfidf
from elman.errors import MetricError


def _texts(seed: int, *, documents: int, noise: float = 0.0, classes: int = 3) -> LabelledTexts:
    """Documents of which some words tell the class."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, documents)
    seen = np.where(random.random(documents) < noise, random.integers(0, classes, documents), labels)
    words = [[f"class{c}word{random.integers(9)}", *(f"w{random.integers(40)}" for _ in range(8))] for c in seen]
    return LabelledTexts([" ".join(random.permutation(text)) for text in words], labels)


def test_words_that_tell_the_class_are_found() -> None:
    test = _texts(3, documents=90)
    found = score_tfidf(train=_texts(1, documents=900), valid=_texts(2, documents=60), test=test, num_classes=3)
    assert np.mean(found.log_probabilities.argmax(axis=1) == test.labels) > 0.95
    assert np.exp(found.log_probabilities).sum(axis=1) == pytest.approx(np.ones(90))


def test_pairs_of_words_tell_what_single_words_cannot() -> None:
    train = LabelledTexts(["left up", "right down", "up left", "down right"] * 5, np.array([0, 0, 1, 1] * 5))
    found = score_tfidf(train=train, valid=train, test=train, num_classes=2)
    assert found.log_probabilities.argmax(axis=1).tolist() == train.labels.tolist()


def test_c_is_chosen_on_validation_and_not_on_test() -> None:
    train = _texts(1, documents=150, noise=0.4)
    valid, test = _texts(2, documents=100), _texts(3, documents=100)
    alone = {c: score_tfidf(train=train, valid=valid, test=valid, num_classes=3, grid=[c]) for c in (0.001, 1.0, 1e4)}
    right = {c: np.mean(found.log_probabilities.argmax(axis=1) == valid.labels) for c, found in alone.items()}
    chosen = score_tfidf(train=train, valid=valid, test=test, num_classes=3, grid=list(alone)).c
    assert right[chosen] == max(right.values())
    assert len(set(right.values())) > 1, "the grid is to make a difference here"


def test_of_equally_accurate_c_the_smallest_is_taken() -> None:
    train = LabelledTexts(["yes", "no"] * 4, np.array([1, 0] * 4))
    assert score_tfidf(train=train, valid=train, test=train, num_classes=2, grid=[3.0, 30.0]).c == 3.0


def test_a_class_that_train_does_not_show_is_never_answered() -> None:
    train = LabelledTexts(["yes", "no"] * 4, np.array([3, 1] * 4))
    found = score_tfidf(train=train, valid=train, test=train, num_classes=4)
    assert np.isneginf(found.log_probabilities[:, [0, 2]]).all()
    assert set(found.log_probabilities.argmax(axis=1).tolist()) == {1, 3}


@pytest.mark.parametrize(
    ("split", "texts", "labels", "message"),
    [
        ("train", [], [], "train holds 0 documents"),
        ("valid", [], [], "valid holds 0 documents"),
        ("test", ["a"], [-1], "1 of them without"),
        ("train", ["a", "b"], [0, 0], "holds class 0 only"),
        ("test", ["a"], [2], r"test holds the classes \[2\]"),
        ("train", ["...", "?"], [0, 1], "no words in the train split"),
    ],
)
def test_what_cannot_be_learned_or_scored_is_refused(split: str, texts: list[str], labels: list[int], message: str):
    splits = {name: LabelledTexts(["yes", "no"], np.array([0, 1])) for name in ("train", "valid", "test")}
    splits[split] = LabelledTexts(texts, np.array(labels, np.int64))
    with pytest.raises(MetricError, match=message):
        score_tfidf(**splits, num_classes=3)
