from elman.config import RetrainingConfig
from elman.retraining.drift import DriftMeasure, DriftReport
from elman.retraining.policy import Reason, next_reason, reason_to_train

CONFIG = RetrainingConfig(min_new_rows=100, max_age_days=30.0)


def report(*, alarm: bool) -> DriftReport:
    measure = DriftMeasure(reference=1.5, new=1.9, distance=0.4, threshold=0.25, alarm=alarm)
    return DriftReport(measures={"surprise": measure}, reference_documents=500, new_documents=80)


def reason(config: RetrainingConfig = CONFIG, **changes: object) -> Reason | None:
    quiet = {"forced": False, "has_champion": True, "new_rows": 0, "age_days": 1.0, "drift": report(alarm=False)}
    return reason_to_train(config, **{**quiet, **changes})


def test_without_a_reason_nothing_is_trained() -> None:
    assert reason() is None
    assert reason(new_rows=99, age_days=30.0, drift=None) is None


def test_each_reason_is_enough_and_says_its_figures() -> None:
    assert reason(forced=True).kinds == ("forced",)
    assert reason(has_champion=False, age_days=None).kinds == ("no_champion",)
    assert reason(new_rows=100).text == "100 new rows, 100 are enough (retraining.min_new_rows)"
    assert reason(age_days=30.5).text == ("the champion is 30.5 days old, older than 30 days (retraining.max_age_days)")
    assert reason(new_rows=50, drift=report(alarm=True)).text == (
        "drift: surprise: 1.5 before and 1.9 now, bits a byte; 0.4 apart, chance goes to 0.25: an alarm"
    )


def test_drift_is_a_reason_from_half_of_the_new_rows_on_that_are_enough_by_themselves() -> None:
    assert reason(new_rows=49, drift=report(alarm=True)) is None
    assert reason(new_rows=50, drift=report(alarm=True)).kinds == ("drift",)
    uneven = RetrainingConfig(min_new_rows=7)
    assert reason(uneven, new_rows=3, drift=report(alarm=True)) is None
    assert reason(uneven, new_rows=4, drift=report(alarm=True)).kinds == ("drift",)


def test_drift_needs_as_many_new_rows_as_the_settings_say_and_one_at_least() -> None:
    any_row = RetrainingConfig(min_drift_rows=1)
    assert reason(any_row, new_rows=0, drift=report(alarm=True)) is None
    assert reason(any_row, new_rows=1, drift=report(alarm=True)).kinds == ("drift",)
    assert reason(RetrainingConfig(min_drift_rows=80), new_rows=79, drift=report(alarm=True)) is None


def test_all_reasons_are_given_in_one_order() -> None:
    found = reason(drift=report(alarm=True), age_days=40.0, new_rows=5_000, has_champion=False, forced=True)
    assert found.kinds == ("forced", "no_champion", "new_rows", "age", "drift")
    assert found.to_json() == {"kinds": list(found.kinds), "sentences": list(found.sentences)}
    assert len(found.text.split("; ")) >= 5


def test_the_next_reason_counts_down() -> None:
    assert next_reason(CONFIG, has_champion=True, new_rows=40, age_days=12.5) == (
        "60 more new rows, or 17.5 more days, or 10 more new rows with drift"
    )
    assert next_reason(CONFIG, has_champion=True, new_rows=60, age_days=12.5) == (
        "40 more new rows, or 17.5 more days, or drift"
    )
    never_by_drift = RetrainingConfig(min_drift_rows=100)
    assert next_reason(never_by_drift, has_champion=True, new_rows=60, age_days=12.5) == (
        "40 more new rows, or 17.5 more days"
    )
    assert next_reason(CONFIG, has_champion=True, new_rows=140, age_days=12.5).startswith("now: 140 new rows")
    assert next_reason(CONFIG, has_champion=False, new_rows=0, age_days=None) == "now: there is no champion yet"
