"""Documents, copies of them with changed words, and how alike two are: slow and exact."""

import random
from collections import Counter


def document(words: random.Random, *, length: int, num_words: int = 3_000) -> list[str]:
    return [f"w{words.randrange(num_words)}" for _ in range(length)]


def changed(words: random.Random, text: list[str], *, times: int) -> list[str]:
    """A copy with `times` of its words changed, each to a word that stands nowhere else."""
    other = list(text)
    for place in words.sample(range(len(text)), times):
        other[place] = f"new{words.randrange(10**9)}"
    return other


def grams_in_common(first: list[str], second: list[str]) -> float:
    a, b = ({tuple(text[i : i + 5]) for i in range(len(text) - 4)} for text in (first, second))
    return len(a & b) / len(a | b)


def words_in_common(first: list[str], second: list[str]) -> float:
    a, b = Counter(first), Counter(second)
    return (a & b).total() / (a | b).total()
