import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.retraining_drift import CHANGES, alarms, allowed, draw_sample

from elman.config import RetrainingConfig
from elman.retraining.drift import DriftReport, DriftSample, common_limits, drift_report

CONFIG = RetrainingConfig(drift_false_alarms=0.01)


def sample(documents: int, seed: int, **change: float) -> DriftSample:
    return draw_sample(np.random.default_rng(seed), documents, **change)


def report(reference: DriftSample, new: DriftSample, *, resamples: int = 1_000) -> DriftReport:
    return drift_report(reference, new, CONFIG, resamples=resamples)


def test_distances_are_those_of_sums_divided_once() -> None:
    reference = DriftSample(
        num_tokens=np.array([4, 16]),
        num_bytes=np.array([10, 70]),
        unk_tokens=np.array([1, 0]),
        nll_nats=np.log(2.0) * np.array([20.0, 60.0]),
        labels=("a", "b"),
    )
    new = DriftSample(
        num_tokens=np.array([8, 8, 64]),
        num_bytes=np.array([20, 20, 160]),
        unk_tokens=np.array([0, 4, 4]),
        nll_nats=np.log(2.0) * np.array([50.0, 50.0, 200.0]),
        labels=("a", "c", "c"),
    )
    found = report(reference, new).measures
    assert list(found) == ["surprise", "unk_share", "length", "label_mix"]
    assert (found["surprise"].reference, found["surprise"].new) == (pytest.approx(1.0), pytest.approx(1.5))
    assert (found["unk_share"].reference, found["unk_share"].new) == (0.05, 0.1)
    assert (found["length"].reference, found["length"].new) == (pytest.approx(8.0), pytest.approx(16.0))
    assert found["length"].distance == pytest.approx(1.0)  # one doubling
    assert found["label_mix"].distance == pytest.approx(np.sqrt(1.0 - np.sqrt(1 / 6)))  # a in both
    assert [measure.threshold for measure in found.values()] == [None] * 4  # two documents say nothing of chance
    assert report(reference, new).coverage == pytest.approx(0.9)


def test_unchanged_text_raises_an_alarm_as_often_as_was_asked_for() -> None:
    shares = alarms(np.random.default_rng(4), sizes=(100, 40), rate=0.05, draws=400, resamples=300)
    low, high = allowed(0.05, 400)
    assert low <= shares["any"] <= high


@pytest.mark.parametrize("name", [name for name in CHANGES if name != "none"])
def test_a_planted_change_is_found(name: str) -> None:
    expected = {"surprise": "surprise", "foreign": "unk_share", "longer": "length", "moved": "label_mix"}
    (kind,) = CHANGES[name]
    found = report(sample(1_000, 1), sample(1_000, 2, **CHANGES[name]))
    assert expected[kind] in found.alarms


def test_the_threshold_is_that_of_the_sizes() -> None:
    reference = sample(500, 3)
    small, equal, large = (report(reference, sample(size, 5)).measures["surprise"] for size in (20, 500, 5_000))
    # The spread of the difference is that of sqrt(1 / 500 + 1 / n).
    spreads = [np.sqrt(1 / 500 + 1 / size) for size in (20, 500, 5_000)]
    thresholds = [measure.threshold for measure in (small, equal, large)]
    assert np.array(thresholds) / thresholds[1] == pytest.approx(np.array(spreads) / spreads[1], rel=0.25)


def test_one_unknown_token_after_a_reference_without_any_is_no_alarm_and_many_are() -> None:
    reference, new = sample(300, 6), sample(300, 7)
    none, one, many = (np.zeros(300, np.int64) for _ in range(3))
    one[5], many[:40] = 1, 2
    reference = replace(reference, unk_tokens=none)
    assert report(reference, replace(new, unk_tokens=one)).alarms == ()
    assert report(reference, replace(new, unk_tokens=many)).alarms == ("unk_share",)


def test_byte_pieces_are_measured_where_the_tokenizer_has_them() -> None:
    none = np.zeros(300, np.int64)
    reference = replace(sample(300, 6), unk_tokens=none, byte_tokens=none)
    new = replace(sample(300, 7), unk_tokens=none, byte_tokens=np.full(300, 3))
    found = report(reference, new)
    assert list(found.measures) == ["surprise", "byte_share", "length", "label_mix"]
    assert found.alarms == ("byte_share",)
    assert found.coverage == pytest.approx(1.0 - 900 / new.num_tokens.sum())


@pytest.mark.parametrize(("before", "now"), [(0, 0), (0, 5), (5, 0), (1, 1), (29, 3), (30, 1), (40, 2)])
def test_few_documents_do_no_harm(before: int, now: int) -> None:
    found = report(sample(before, 8), sample(now, 9), resamples=50)
    assert (found.reference_documents, found.new_documents) == (before, now)
    if min(before, now) == 0:
        assert found.measures == {}
        assert found.text().startswith("no drift to measure")
        assert found.alarms == ()
        assert (found.coverage is None) == (now == 0)
    else:
        assert {measure.threshold is None for measure in found.measures.values()} == {before < 30}
    json.dumps(found.to_json(), allow_nan=False)


def test_a_class_that_only_the_new_text_has_is_part_of_its_mix() -> None:
    reference = sample(200, 10)
    new = replace(reference, labels=("other",) * 200)
    found = report(reference, new).measures["label_mix"]
    assert (found.distance, found.alarm, found.new) == (pytest.approx(1.0), True, None)


def test_the_same_draws_give_the_same_report() -> None:
    pair = sample(100, 11), sample(50, 12)
    assert report(*pair).to_json() == report(*pair).to_json()


def test_together_the_thresholds_let_no_more_rows_pass_than_the_rate() -> None:
    random = np.random.default_rng(13)
    shared = random.normal(size=(5_000, 1))
    for weight in (0.0, 0.9):  # independent measures, and such that go together
        distances = np.abs(weight * shared + random.normal(size=(5_000, 4))) * np.array([1.0, 20.0, 0.3, 5.0])
        distances = np.hstack([distances, np.zeros((5_000, 1))])
        thresholds, share = common_limits(distances, rate=0.04)
        assert 0.037 <= (distances > thresholds).any(axis=1).mean() <= 0.04
        each = (distances > thresholds).mean(axis=0)
        assert each[:4] == pytest.approx(np.full(4, share), abs=0.001)
        assert each[4] == 0.0


def test_a_report_says_in_words_what_it_found() -> None:
    lines = report(sample(300, 14), sample(200, 15, longer=2.0)).text().splitlines()
    assert len(lines) == 4
    assert "tokens a document (geometric mean)" in lines[2]
    assert lines[2].endswith(": an alarm")
