import sqlite3

import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState

from elman.errors import ArtifactError, TrainingError
from elman.searching.study import alone, completed, done, open_study, set_sampler, studies_of_others

SPACE = {"x": FloatDistribution(-3.0, 5.0), "y": FloatDistribution(0.1, 10.0, log=True)}


def search(path, *, until: int, killed_at: tuple[int, ...] = ()) -> list[dict]:
    """Trials of a function of two numbers; after those at `killed_at` the file is opened anew, as by a new process."""
    study = open_study(path, "key")
    while (count := len(done(study))) < until:
        set_sampler(study, 1)
        trial = study.ask(SPACE)
        if count in killed_at:
            killed_at = tuple(number for number in killed_at if number != count)
            study = open_study(path, "key")
            continue
        study.tell(trial, (trial.params["x"] - 1.3) ** 2 + trial.params["y"])
    return [trial.params for trial in done(study)]


def test_a_search_that_was_killed_twice_draws_what_an_undisturbed_one_draws(tmp_path):
    whole = search(tmp_path / "whole.db", until=12)
    killed = search(tmp_path / "killed.db", until=12, killed_at=(2, 9))
    assert killed == whole
    assert len({point["x"] for point in whole}) == 12


def test_a_killed_trial_is_marked_failed_and_does_not_count(tmp_path):
    study = open_study(tmp_path / "a.db", "key")
    study.tell(study.ask(SPACE), 1.0)
    study.ask(SPACE)
    again = open_study(tmp_path / "a.db", "key")
    assert [trial.state for trial in again.trials] == [TrialState.COMPLETE, TrialState.FAIL]
    assert len(done(again)) == 1


def test_the_best_trial_comes_first_and_one_that_was_ended_early_is_not_among_them(tmp_path):
    study = open_study(tmp_path / "a.db", "key")
    for value in (2.0, 0.5, 1.0):
        study.tell(study.ask(SPACE), value)
    early = study.ask(SPACE)
    early.report(0.1, step=1)
    study.tell(early, state=TrialState.PRUNED)
    assert [trial.value for trial in completed(study)] == [0.5, 1.0, 2.0]
    assert len(done(study)) == 4


def test_other_settings_are_another_study_in_the_same_file(tmp_path):
    study = open_study(tmp_path / "a.db", "key")
    assert not studies_of_others(study, tmp_path / "a.db")
    study.tell(study.ask(SPACE), 1.0)
    other = open_study(tmp_path / "a.db", "another")
    assert studies_of_others(other, tmp_path / "a.db")
    assert other.trials == []
    assert len(open_study(tmp_path / "a.db", "key").trials) == 1


def test_a_second_process_is_kept_away(tmp_path):
    path = tmp_path / "s" / "a.db"
    refused = pytest.raises(TrainingError, match=r"a\.db: another `elman search` works on it")
    with alone(path), refused, alone(path):
        pass
    with alone(path):
        pass


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to be taken for one" * 40, b"SQLite format 3\0 half"]
)
def test_a_damaged_storage_is_named_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "a.db"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"a\.db: cannot be used as the storage of a search.*move it away"):
        open_study(path, "key")
    assert path.read_bytes() == content


def test_a_table_that_was_dropped_is_a_damaged_storage(tmp_path):
    open_study(tmp_path / "a.db", "key")
    with sqlite3.connect(tmp_path / "a.db") as file:
        file.execute("drop table studies")
        file.execute("create table studies (a text)")
    file.close()
    with pytest.raises(ArtifactError, match=r"a\.db: cannot be used"):
        open_study(tmp_path / "a.db", "key")
