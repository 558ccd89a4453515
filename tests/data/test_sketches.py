"""Sketches against sets of words and of word 5-grams."""

import random
from collections import Counter

import pytest

from elman.data.sketches import SKETCH, Sketcher, similarity
from tests.helpers.documents_alike import changed, document, grams_in_common, words_in_common


def encoded(*texts: list[str]) -> list[bytes]:
    return [" ".join(text).encode() for text in texts]


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 0), ("a b c d", 0), ("a b c d e", 1), ("a b c d e f", 2), ("a a a a a a a", 1), ("  a  b c d\te ", 1)],
)
def test_sketch_holds_each_5_gram_once(text: str, size: int) -> None:
    sketcher = Sketcher()
    words = sketcher.split([b"before it stands another text", text.encode(), b"and after it one too"])
    assert len(sketcher.grams(words).of(1)) == size


@pytest.mark.parametrize(("text", "size"), [("", 0), ("a", 1), ("a b a a", 4), ("  a  b\tc ", 3)])
def test_sketch_holds_each_occurrence_of_a_word(text: str, size: int) -> None:
    sketcher = Sketcher()
    words = sketcher.split([b"a a b", text.encode(), b"b"])
    assert len(sketcher.words(words).of(1)) == words.num_words[1] == size


def test_5_grams_do_not_reach_over_the_end_of_a_document() -> None:
    sketcher = Sketcher()
    texts = [b"a b c d e f", b"g h i j k"]
    together = sketcher.grams(sketcher.split(texts))
    alone = [sketcher.grams(sketcher.split([text])) for text in texts]
    assert [together.of(place).tolist() for place in (0, 1)] == [sketch.of(0).tolist() for sketch in alone]


def test_the_place_of_a_document_does_not_change_its_sketch() -> None:
    sketcher = Sketcher()
    both = sketcher.words(sketcher.split([b"a b a c", b"a b a c"]))
    assert both.of(0).tolist() == both.of(1).tolist()


def test_words_in_common_are_exact_for_documents_that_fit_a_sketch() -> None:
    words = random.Random(3)
    sketcher = Sketcher()
    for _ in range(40):
        first = document(words, length=words.randint(1, SKETCH), num_words=20)
        second = changed(words, first, times=min(3, len(first)))
        sketches = sketcher.words(sketcher.split(encoded(first, second)))
        expected = Counter(first) & Counter(second)
        assert similarity(sketches.of(0), sketches.of(1)) == pytest.approx(words_in_common(first, second))
        assert len(set(sketches.of(0)) & set(sketches.of(1))) == expected.total()


@pytest.mark.parametrize("of_words", [True, False])
def test_similarity_of_long_documents_is_estimated_within_its_error(of_words: bool) -> None:
    words = random.Random(8)
    sketcher = Sketcher()
    errors = []
    for times in (0, 2, 5, 10, 20, 40) * 5:
        first = document(words, length=600)
        second = changed(words, first, times=times)
        split = sketcher.split(encoded(first, second))
        sketch = sketcher.words(split) if of_words else sketcher.grams(split)
        expected = words_in_common(first, second) if of_words else grams_in_common(first, second)
        errors.append(similarity(sketch.of(0), sketch.of(1)) - expected)
    assert max(map(abs, errors)) < 4 * 0.5 / SKETCH**0.5
    assert abs(sum(errors) / len(errors)) < 0.03
