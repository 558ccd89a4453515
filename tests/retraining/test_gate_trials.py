"""What the gate promises, with models of known quality and with small real ones."""

import numpy as np
import pytest
from benchmarks.retraining_nights import promotions, ratchet
from benchmarks.retraining_trials import gate, planted
from benchmarks.simulated_models import (
    draw_classifier,
    draw_language_model,
    draw_shuffled,
    draw_test_set,
    draw_texts,
)
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

from elman.config import RetrainingConfig
from elman.retraining.gate import DocumentScores, decide


class Digits:
    """Ten classes of small images, half of them to learn from: what stands in for documents here."""

    def __init__(self) -> None:
        images, labels = load_digits(return_X_y=True)
        self.learn, self.test = (images[::2] / 16.0, labels[::2]), (images[1::2] / 16.0, labels[1::2])

    def trained(self, seed: int, *, shuffled: bool = False, rows: int = 899) -> DocumentScores:
        images, labels = (part[:rows] for part in self.learn)
        if shuffled:
            labels = np.random.default_rng(seed).permutation(labels)
        model = SGDClassifier(loss="log_loss", max_iter=4, tol=None, random_state=seed).fit(images, labels)
        predicted = model.predict(self.test[0])
        return DocumentScores(ids=np.arange(len(predicted)), labels=self.test[1], predicted=predicted)


@pytest.fixture(scope="module")
def digits() -> Digits:
    return Digits()


@pytest.mark.parametrize("rule", ["superior", "non_inferior"])
def test_the_same_data_with_a_new_seed_is_promoted_at_most_once_in_20_nights(digits: Digits, rule: str) -> None:
    names = [str(number) for number in range(10)]
    config = RetrainingConfig.model_validate({"rule": rule})
    champion, anchor, count = digits.trained(0), None, 0
    for seed in range(1, 21):
        challenger = digits.trained(seed)
        result = decide(challenger, champion, config, class_names=names, new_data=False, anchor=anchor)
        anchor, count = result.anchor, count + result.promote
        champion = challenger if result.promote else champion
    assert count <= 1


def test_shuffled_labels_are_never_promoted(digits: Digits) -> None:
    names = [str(number) for number in range(10)]
    config = RetrainingConfig()
    champion = digits.trained(0)
    for seed in range(5):
        assert not decide(digits.trained(seed, shuffled=True), champion, config, class_names=names).promote
    random = np.random.default_rng(2)
    for _ in range(20):
        test = draw_test_set(random)
        assert not gate(draw_shuffled(random, test), None, "non_inferior", test=test).promote


def test_a_model_that_learned_from_ten_times_as_much_is_promoted(digits: Digits) -> None:
    names = [str(number) for number in range(10)]
    few, many = digits.trained(1, rows=89), digits.trained(1)
    assert many.right.mean() > few.right.mean() + 0.05
    for new_data in (True, False):
        options = {"class_names": names, "new_data": new_data}
        assert decide(many, few, RetrainingConfig.model_validate({"rule": "superior"}), **options).promote


def test_twenty_nights_of_new_seeds_promote_at_most_once_though_seeds_differ_in_quality() -> None:
    random = np.random.default_rng(5)
    counts = []
    for _ in range(5):
        test = draw_test_set(random)
        counts.append(
            promotions(
                lambda test=test: draw_classifier(random, test, 0.95 + 0.003 * random.normal()),
                20,
                "non_inferior",
                new_data=False,
                test=test,
            )
        )
    texts = draw_texts(random, 400)
    counts.append(
        promotions(
            lambda: draw_language_model(random, texts, 0.002 * random.normal()), 20, "non_inferior", new_data=False
        )
    )
    assert max(counts) <= 1


def test_a_planted_gain_of_5_points_is_always_promoted_on_a_test_set_of_2189() -> None:
    rows = planted(np.random.default_rng(6), runs=15, gain=0.05, champion=0.93, sizes=(2_189,))
    assert [(row["rule"], row["new_data"]) for row in rows] == [
        ("superior", True),
        ("non_inferior", True),
        ("superior", False),
    ]
    assert [row["promoted"] for row in rows] == [1.0, 1.0, 1.0]


def test_a_model_that_is_worse_by_the_margin_is_promoted_at_most_once_in_twenty() -> None:
    rows = planted(np.random.default_rng(7), runs=40, gain=-0.01, champion=0.95, sizes=(2_189,))
    # Of 40 draws at 2.5 % more than 4 come about once in 300 times.
    assert max(row["promoted"] for row in rows) <= 4 / 40


def test_a_month_of_slightly_worse_models_ends_within_the_margin_of_the_best() -> None:
    free, held = ratchet(np.random.default_rng(8), runs=1, nights=30)
    assert free["worst_loss_on_the_set"] > 0.03
    assert held["worst_loss_on_the_set"] <= 0.01 + 1e-9
