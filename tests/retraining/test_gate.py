import json

import numpy as np
import pytest

from elman.config import RetrainingConfig
from elman.errors import MetricError
from elman.retraining.gate import Anchor, DocumentScores, GateResult, decide

NAMES = ("earn", "acq", "grain")


def config(**changes: object) -> RetrainingConfig:
    return RetrainingConfig.model_validate({"rule": "superior", **changes})


def classifier(right: np.ndarray, labels: np.ndarray | None = None) -> DocumentScores:
    """Wrong answers are the next class."""
    labels = np.arange(len(right)) % 2 if labels is None else labels
    predicted = np.where(right, labels, (labels + 1) % len(NAMES))
    return DocumentScores(ids=np.arange(len(right)) * 3, labels=labels, predicted=predicted)


def text(bits: np.ndarray, num_bytes: np.ndarray) -> DocumentScores:
    return DocumentScores(ids=np.arange(len(bits)), nll_nats=bits * np.log(2.0), num_bytes=num_bytes)


def first_right(count: int, of: int = 1_000) -> np.ndarray:
    return np.arange(of) < count


def gate(challenger: DocumentScores, champion: DocumentScores | None, **options: object) -> GateResult:
    changes = {name: options.pop(name) for name in list(options) if name in RetrainingConfig.model_fields}
    return decide(challenger, champion, config(**changes), class_names=NAMES, **options)


def test_a_better_classifier_is_promoted_with_the_figures_that_say_so() -> None:
    result = gate(classifier(first_right(930)), classifier(first_right(900)))
    assert result.promote
    assert (result.rule, result.measure, result.documents) == ("superior", "accuracy", 1_000)
    assert (result.challenger_value, result.champion_value) == (0.93, 0.9)
    assert result.difference == pytest.approx(0.03)
    assert 0.0 < result.low < 0.03 < result.high < 0.05
    assert "+0.0300 better than the champion" in result.reasons[0]


def test_the_interval_is_of_pairs_and_not_of_two_accuracies() -> None:
    # 20 documents gained and none lost: were the two accuracies independent, +- 0.027 would hide it.
    assert gate(classifier(first_right(920)), classifier(first_right(900))).promote
    # The same two accuracies from other documents: 80 and 60 tell them apart.
    others = np.roll(first_right(920), 60)
    assert not gate(classifier(others), classifier(first_right(900))).promote


def test_a_handful_of_documents_shows_nothing_though_the_interval_lies_above_0() -> None:
    result = gate(classifier(first_right(905)), classifier(first_right(900)))
    assert result.low > 0.0
    assert not result.promote
    assert "5 and 0 test documents tell the two apart" in result.reasons[0]


def test_non_inferior_lets_an_equal_model_pass_and_superior_does_not() -> None:
    equal = classifier(np.roll(first_right(950), 10))
    champion = classifier(first_right(950))
    assert gate(equal, champion, rule="non_inferior", margin=0.02).promote
    assert not gate(equal, champion, rule="superior").promote
    refused = gate(equal, champion, rule="non_inferior", margin=0.005)
    assert not refused.promote
    assert "non_inferior asks for a lower end above -0.005 (retraining.margin)" in refused.reasons[0]


def test_without_new_data_a_challenger_has_to_be_better_by_more_than_the_margin() -> None:
    champion = classifier(first_right(900))
    little, much = classifier(first_right(920)), classifier(first_right(940))
    for rule in ("superior", "non_inferior"):
        assert gate(little, champion, rule=rule, margin=0.02).promote
        refused = gate(little, champion, rule=rule, margin=0.02, new_data=False)
        assert (refused.promote, refused.rule) == (False, "superior_by_margin")
        assert "only the seed is new" in refused.reasons[0]
        assert gate(much, champion, rule=rule, margin=0.02, new_data=False).promote


def test_seeds_that_differ_by_more_than_the_margin_raise_the_bar_without_new_data() -> None:
    champion, challenger = classifier(first_right(900)), classifier(first_right(940))
    options = {"rule": "non_inferior", "margin": 0.01, "new_data": False}
    assert gate(challenger, champion, seed_spread=0.005, **options).promote  # 1.96 * sqrt(2) * 0.005 = 0.0139
    refused = gate(challenger, champion, seed_spread=0.015, **options)
    assert not refused.promote
    assert "above 0.0416 is asked for" in refused.reasons[0]
    assert gate(challenger, champion, seed_spread=0.015, **{**options, "new_data": True}).promote


def test_bits_a_byte_compare_models_whatever_their_tokenizers_are() -> None:
    random = np.random.default_rng(3)
    size = random.integers(20, 900, 300)
    bits = size * random.normal(1.5, 0.2, 300)
    better = text(bits * 0.97 + random.normal(0.0, 4.0, 300), size)
    result = gate(better, text(bits, size))
    assert result.promote
    assert result.measure == "bits_per_byte"
    assert result.champion_value == pytest.approx(bits.sum() / size.sum())
    assert result.difference == pytest.approx(result.champion_value - result.challenger_value)
    assert result.low < result.difference < result.high
    assert not gate(text(bits, size), better, rule="non_inferior").promote
    assert result.per_class == ()


def test_bits_a_byte_are_a_ratio_of_sums_and_not_a_mean_of_ratios() -> None:
    # One long document gets worse by 10 % and forty short ones get better by 10 %: in all the challenger is worse.
    size = np.append(np.full(40, 10), 100_000)
    bits = 2.0 * size
    result = gate(text(bits * np.append(np.full(40, 0.9), 1.1), size), text(bits, size))
    assert result.difference == pytest.approx((0.1 * 800 - 0.1 * 200_000) / 100_400)
    assert not result.promote


def test_a_language_model_is_not_judged_on_a_handful_of_documents() -> None:
    size = np.full(19, 50)
    result = gate(text(1.0 * size, size), text(2.0 * size, size))
    assert not result.promote
    assert (result.low, result.difference) == (None, pytest.approx(1.0))
    assert "fewer than 20 documents" in result.reasons[0]


def test_a_floor_holds_for_every_champion_and_all_reasons_are_given() -> None:
    result = gate(classifier(first_right(900)), classifier(first_right(950)), floor=0.92)
    assert not result.promote
    assert "asks for a lower end above 0" in result.reasons[0]
    assert "at least 0.92 is asked for (retraining.floor)" in result.reasons[1]
    size = np.full(30, 40)
    refused = gate(text(1.5 * size, size), None, floor=1.4)
    assert refused.reasons == ("bits a byte is 1.5000, and at most 1.4 is asked for (retraining.floor)",)
    assert gate(text(1.3 * size, size), None, floor=1.4).promote


def test_a_first_classifier_has_to_beat_the_most_frequent_class_beyond_chance() -> None:
    labels = np.repeat([0, 1, 2], [500, 300, 200])
    constant = DocumentScores(ids=np.arange(1_000), labels=labels, predicted=np.zeros(1_000, int))
    assert not gate(constant, None).promote
    lucky = DocumentScores(ids=np.arange(1_000), labels=labels, predicted=np.where(np.arange(1_000) == 999, 2, 0))
    assert not gate(lucky, None).promote
    learned = gate(classifier(np.arange(1_000) % 5 > 0, labels), None)
    assert learned.promote
    assert (learned.rule, learned.champion_value) == ("first", None)


def test_a_first_language_model_has_to_beat_the_baseline_or_8_bits() -> None:
    size = np.full(50, 100)
    noise = np.random.default_rng(1).normal(0.0, 3.0, 50)
    assert not gate(text(8.1 * size, size), None).promote
    assert gate(text(7.9 * size, size), None).promote
    unigram = text(4.0 * size, size)
    assert not gate(text(4.0 * size + noise, size), None, baseline=unigram).promote
    assert gate(text(3.5 * size + noise, size), None, baseline=unigram).promote


def test_scores_that_are_not_finite_are_never_promoted() -> None:
    size = np.full(30, 10)
    bad = 2.0 * size
    bad[7] = np.nan
    result = gate(text(bad, size), text(5.0 * size, size), rule="non_inferior")
    assert (result.promote, result.challenger_value, result.difference) == (False, None, None)
    assert "not finite" in result.reasons[0]
    json.dumps(result.to_json(), allow_nan=False)
    with pytest.raises(MetricError, match="scores of the champion are not finite"):
        gate(text(2.0 * size, size), text(bad, size))


def test_a_class_without_a_name_is_refused() -> None:
    labels = np.array([0, 1, 3])
    with pytest.raises(MetricError, match="3 classes have names, and the scores hold ids from 0 to 3"):
        gate(DocumentScores(ids=np.arange(3), labels=labels, predicted=np.array([0, 1, 2])), None)


def test_the_best_champion_so_far_stops_a_slide_that_each_step_allows() -> None:
    options = {"rule": "non_inferior", "margin": 0.02}
    champion, anchor, accuracies = classifier(first_right(950)), None, []
    for hits in range(945, 900, -5):
        result = gate(challenger := classifier(first_right(hits)), champion, anchor=anchor, **options)
        anchor = result.anchor
        if result.promote:
            champion = challenger
            accuracies.append(result.challenger_value)
    assert min(accuracies) == 0.93
    assert anchor.value == 0.95
    assert "the best champion so far had 0.9500" in result.reasons[-1]


def test_the_anchor_is_the_better_of_the_champions_and_none_of_another_test_set() -> None:
    champion, challenger = classifier(first_right(900)), classifier(first_right(950))
    result = gate(challenger, champion)
    assert result.anchor == Anchor(
        test_hash=challenger.test_hash, value=0.95, recalls={"earn": (475, 500), "acq": (475, 500)}
    )
    refused = gate(champion, challenger, anchor=Anchor(test_hash="another", value=0.999, recalls={}))
    assert refused.anchor.value == 0.95
    kept = Anchor(test_hash=challenger.test_hash, value=0.97, recalls={})
    assert gate(challenger, champion, anchor=kept).anchor is kept
    assert gate(classifier(first_right(10)), None).anchor is None


def test_an_anchor_of_a_language_model_counts_downwards() -> None:
    size = np.full(40, 10)
    anchor = gate(text(2.0 * size, size), None).anchor
    assert anchor.value == pytest.approx(2.0)
    options = {"rule": "non_inferior", "margin": 0.1, "anchor": anchor}
    assert gate(text(2.09 * size, size), text(2.05 * size, size), **options).promote
    assert not gate(text(2.11 * size, size), text(2.05 * size, size), **options).promote
    assert gate(text(1.5 * size, size), text(2.05 * size, size), **options).anchor.value == pytest.approx(1.5)


def test_a_result_and_its_anchor_survive_json() -> None:
    result = gate(classifier(first_right(930)), classifier(first_right(900)))
    stored = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert Anchor.from_json(stored["anchor"]) == result.anchor
    assert (stored["promote"], stored["low"], len(stored["per_class"])) == (True, result.low, 3)
    assert result.text().startswith("promoted\n  accuracy 0.9300")
    with pytest.raises(MetricError, match="cannot be read"):
        Anchor.from_json({"value": 1.0})
