import pytest

from elman.config import TrainingConfig
from elman.training.schedules import Schedule


def schedule(**changes) -> Schedule:
    base = {"embedding_dim": 4, "units": 4, "learning_rate": 0.8, "epochs": 8, "batch_size": 2}
    return Schedule(TrainingConfig(**base | changes))


def test_constant_stays():
    assert [schedule().rate(e, 0.5) for e in range(3)] == [0.8] * 3


def test_halve_keeps_the_rate_up_to_its_epoch_and_halves_it_after_each_later_one():
    halving = schedule(schedule="halve", halve_after_epoch=4)
    assert [halving.rate(e, 0.9) for e in range(7)] == [0.8, 0.8, 0.8, 0.8, 0.4, 0.2, 0.1]


def test_cosine_starts_at_the_rate_is_half_in_the_middle_and_ends_near_zero():
    cosine = schedule(schedule="cosine")
    assert cosine.rate(0, 0.0) == pytest.approx(0.8)
    assert cosine.rate(4, 0.0) == pytest.approx(0.4)
    assert cosine.rate(7, 0.999) < 1e-6


def test_plateau_waits_for_its_patience_and_counts_anew_after_each_cut():
    plateau = schedule(schedule="plateau", plateau_factor=0.5, plateau_patience=1)
    rates = []
    for improved in (True, False, False, False, True, False, False):
        plateau.end_epoch(improved=improved)
        rates.append(plateau.rate(0, 0.0))
    assert rates == [0.8, 0.8, 0.4, 0.4, 0.4, 0.4, 0.2]


def test_a_restored_schedule_goes_on_where_it_was():
    first, second = (schedule(schedule="plateau", plateau_patience=1) for _ in range(2))
    first.end_epoch(improved=False)
    second.restore(first.state())
    for each in (first, second):
        each.end_epoch(improved=False)
    assert first.rate(0, 0.0) == second.rate(0, 0.0) == pytest.approx(0.2)
