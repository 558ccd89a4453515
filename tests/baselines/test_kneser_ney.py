from collections import Counter, defaultdict

import numpy as np
import pytest

from elman.baselines.kneser_ney import KneserNey, estimate_discounts, fit_kneser_ney
from elman.baselines.ngram_counts import count_ngrams
from elman.errors import MetricError

VOCAB = 40


def _text(seed: int, *, documents: int, types: int = VOCAB) -> tuple[np.ndarray, np.ndarray]:
    """Documents whose words depend on the word before, with frequent and rare ones."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 20, documents)
    drawn = np.minimum(random.geometric(0.12, lengths.sum()) + 3, types - 1)
    follows = random.random(len(drawn)) < 0.5
    drawn[1:][follows[1:]] = 4 + (drawn[:-1][follows[1:]] * 3) % (types - 4)
    drawn[np.cumsum(lengths) - 1] = 3
    return drawn, lengths


def _fit(seed: int = 1, *, order: int, documents: int = 400) -> KneserNey:
    return fit_kneser_ney(count_ngrams(*_text(seed, documents=documents), order=order, vocab_size=VOCAB), order=order)


def test_a_bigram_model_is_the_one_worked_by_hand() -> None:
    # Documents "4 5" and "4"; the targets are unk, 4, 5 and eos. No bigram stands three times, so D is 0.5, 1, 1.5.
    # Unigrams count the tokens before: 4 has bos; 5 has 4; eos has 5 and 4. Leftover (0.5 + 0.5 + 1) / 4 = 0.5.
    unigram = {1: 0.125, 3: 1 / 4 + 0.125, 4: 0.5 / 4 + 0.125, 5: 0.5 / 4 + 0.125}
    counts = count_ngrams(np.array([4, 5, 3, 4, 3]), np.array([3, 2]), order=2, vocab_size=6)
    model = fit_kneser_ney(counts, order=2)
    assert model.discounts == ((0.5, 1.0, 1.5), (0.5, 1.0, 1.5))
    # bos: 4 twice, D2 = 1. 4: 5 and eos once each, D1 = 0.5. Both leave half. 5: eos once. 1 was never seen.
    expected = {
        (): {4: 1 / 2 + unigram[4] / 2, 1: unigram[1] / 2, 3: unigram[3] / 2, 5: unigram[5] / 2},
        (4,): {5: 0.25 + unigram[5] / 2, 3: 0.25 + unigram[3] / 2, 1: unigram[1] / 2, 4: unigram[4] / 2},
        (4, 5): {3: 0.5 + unigram[3] / 2, 1: unigram[1] / 2, 4: unigram[4] / 2, 5: unigram[5] / 2},
        (1,): unigram,
    }
    for history, row in expected.items():
        found = model.distribution(np.array(history, np.int64))
        assert found == pytest.approx([0.0, row[1], 0.0, row[3], row[4], row[5]])
    logs = model.log_probabilities(np.array([4, 1, 3]), np.array([3]))
    assert np.exp(logs) == pytest.approx([0.625, 0.0625, 0.375])


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_over_the_vocabulary_sum_to_one_for_random_histories(order: int) -> None:
    model = _fit(order=order)
    random = np.random.default_rng(8)
    for _ in range(200):
        history = random.choice([1, *range(4, VOCAB)], size=random.integers(0, 9))
        distribution = model.distribution(history)
        assert abs(distribution.sum() - 1.0) < 1e-9
        assert distribution[[0, 2]].tolist() == [0.0, 0.0]
        assert distribution[[1, *range(3, VOCAB)]].min() > 0.0


@pytest.mark.parametrize("order", [1, 3, 5])
def test_each_token_is_scored_by_the_distribution_after_what_stands_before_it(order: int) -> None:
    model = _fit(order=order)
    ids, lengths = _text(2, documents=30)
    ids[4] = 1 if ids[4] != 3 else 3  # an unk, which train never shows
    logs = model.log_probabilities(ids, lengths)
    slow = [
        np.log(model.distribution(document[:place])[document[place]])
        for document in np.split(ids, np.cumsum(lengths)[:-1])
        for place in range(len(document))
    ]
    assert logs == pytest.approx(np.array(slow), abs=1e-12)


def test_the_model_is_that_of_tables_of_tuples() -> None:
    ids, lengths = _text(3, documents=300)
    documents = [(2, *part.tolist()) for part in np.split(ids, np.cumsum(lengths)[:-1])]
    model = fit_kneser_ney(count_ngrams(ids, lengths, order=3, vocab_size=VOCAB), order=3)
    tables = _slow_tables(documents, 3)
    for document in ((2, 5, 9, 4, 12, 3), documents[7], documents[42]):
        for place in range(1, len(document)):
            expected = _slow(tables, document[:place], document[place])
            assert model.distribution(np.array(document[1:place], np.int64))[document[place]] == pytest.approx(expected)


def _slow_tables(documents: list[tuple[int, ...]], order: int) -> list[Counter[tuple[int, ...]]]:
    """The counts of each length, those of the shorter ones made from the different tokens before."""
    grams = [
        Counter(d[i : i + n] for d in documents for i in range(len(d) - n + 1) if n > 1 or i)
        for n in range(1, order + 1)
    ]
    tables = []
    for n in range(order - 1):
        before: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for gram in grams[n + 1]:
            before[gram[1:]].add(gram[0])
        tables.append(Counter({gram: len(before[gram]) or count for gram, count in grams[n].items()}))
    return [*tables, grams[-1]]


def _slow(tables: list[Counter[tuple[int, ...]]], history: tuple[int, ...], token: int) -> float:
    probability = 1.0 / (VOCAB - 2)
    for n, table in enumerate(tables, start=1):
        if n > len(history) + 1:
            break
        discounts = estimate_discounts(np.array(list(table.values())))
        past = history[len(history) - n + 1 :]
        row = {gram: count for gram, count in table.items() if gram[:-1] == past}
        if row:
            taken = {gram: discounts[min(count, 3) - 1] for gram, count in row.items()}
            gram = (*past, token)
            seen = row[gram] - taken[gram] if gram in row else 0.0
            probability = (seen + sum(taken.values()) * probability) / sum(row.values())
    return probability


def test_a_model_of_lower_order_from_the_same_counts_is_the_one_counted_alone() -> None:
    text = _text(1, documents=400)
    shared = fit_kneser_ney(count_ngrams(*text, order=5, vocab_size=VOCAB), order=2)
    ids, lengths = _text(5, documents=20)
    assert shared.log_probabilities(ids, lengths) == pytest.approx(_fit(order=2).log_probabilities(ids, lengths))


def test_a_longer_history_helps_where_words_follow_each_other() -> None:
    counts = count_ngrams(*_text(1, documents=2000), order=2, vocab_size=VOCAB)
    test = _text(6, documents=200)
    unigram, bigram = (-fit_kneser_ney(counts, order=n).log_probabilities(*test).mean() for n in (1, 2))
    assert bigram < unigram - 0.2


def test_discounts_are_those_of_the_formula() -> None:
    # n1..n4 = 100, 40, 20, 12: Y = 100 / 180.
    counts = np.repeat([1, 2, 3, 4, 9], [100, 40, 20, 12, 7])
    y = 100 / 180
    expected = (1 - 2 * y * 40 / 100, 2 - 3 * y * 20 / 40, 3 - 4 * y * 12 / 20)
    assert estimate_discounts(counts) == pytest.approx(expected)


@pytest.mark.parametrize(
    "counts",
    [[], [5, 6, 7], [1, 1, 2, 3], [1] * 10 + [2] + [3] * 10 + [4]],
    ids=["none", "no rare ones", "none counted four times", "a discount below 0"],
)
def test_discounts_that_counts_cannot_give_are_the_fallback(counts: list[int]) -> None:
    assert estimate_discounts(np.array(counts, np.int64)) == (0.5, 1.0, 1.5)


def test_one_document_of_one_token_gives_a_model() -> None:
    model = fit_kneser_ney(count_ngrams(np.array([3]), np.array([1]), order=5, vocab_size=5), order=5)
    distribution = model.distribution(np.zeros(0, np.int64))
    assert distribution.sum() == pytest.approx(1.0, abs=1e-12)
    assert distribution.argmax() == 3


@pytest.mark.parametrize("history", [[3], [2], [0], [VOCAB]])
def test_a_history_that_no_document_begins_with_is_refused(history: list[int]) -> None:
    with pytest.raises(MetricError):
        _fit(order=2, documents=20).distribution(np.array(history))


def test_an_order_that_was_not_counted_is_refused() -> None:
    counts = count_ngrams(*_text(1, documents=9), order=2, vocab_size=VOCAB)
    with pytest.raises(MetricError, match="length 1 to 2 were counted, order 3"):
        fit_kneser_ney(counts, order=3)
