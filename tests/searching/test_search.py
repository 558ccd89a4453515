"""The search with trainings that take no time: a trial's loss is a function of its settings."""

from contextlib import contextmanager

import pytest
from optuna.trial import TrialState

from elman.artifacts import write_json
from elman.config import load_params
from elman.errors import ArtifactError, ConfigError, TrainingError
from elman.searching import search as module
from elman.searching.search import Budget, best_trials, cost, search_cell
from elman.searching.trial import Outcome
from tests.helpers.encoded_project import write_encoded_project


class Recorded:
    """Notes what would be recorded."""

    def __init__(self):
        self.searches, self.trials, self.metrics = [], [], []
        self.run_id = "0123"

    @contextmanager
    def search_run(self, *, task, cell, params, tags, run_id):
        self.searches.append((task, cell, tags, run_id))
        yield self

    @contextmanager
    def trial_run(self, *, number, params):
        self.trials.append((number, params))
        yield self

    def log_metrics(self, metrics, *, step=0):
        self.metrics.append((metrics, step))

    def set_tags(self, tags):
        self.trials[-1] = (*self.trials[-1], tags)


class Killed(BaseException):
    """Stands for Ctrl-C."""


@pytest.fixture
def searching(tmp_path, monkeypatch):
    """A function that searches; `kill_at` is the training, counted from 1, in which the process is killed."""
    inputs = write_encoded_project(tmp_path)
    state = {"trainings": 0, "recorder": Recorded(), "lines": [], "inputs": inputs}
    monkeypatch.setattr(module, "configure_device", lambda **_: type("Device", (), {"kind": "cpu"}))

    def start(trials=5, *, kill_at=None, loss=None, changes=(), seed=1, seconds=None, task="classifier", cell="gru"):
        def train(trial, config, spec, splits, run):
            state["trainings"] += 1
            if state["trainings"] == kill_at:
                raise Killed
            if loss is not None:
                return loss(trial, config)
            value = abs(config.learning_rate - 0.01) + config.dropout
            return Outcome(value, {"valid/loss": value, "valid/accuracy": 0.9}, 2, False, "", 1.5)

        monkeypatch.setattr(module, "run_trial", train)
        params = load_params(tmp_path / "params.yaml")
        for section, values in dict(changes).items():
            changed = getattr(params, section).model_copy(update=values)
            params = params.model_copy(update={section: changed})
        return search_cell(
            params=params,
            task=task,
            cell=cell,
            inputs=inputs,
            storage=tmp_path / "search" / "notes.db",
            budget=Budget(trials, seconds, seed),
            recorder=state["recorder"],
            tags={"git.commit": "abc"},
            report=state["lines"].append,
        )

    start.state = state
    return start


def settings(study):
    return [trial.params for trial in study.get_trials(states=(TrialState.COMPLETE, TrialState.PRUNED))]


def test_the_settings_in_force_are_the_first_trial_and_the_best_ones_come_first(searching):
    study = searching(7)
    first = study.trials[0]
    dropouts = {"embedding_dropout": 0.3, "word_dropout": 0.1, "dropout": 0.3}
    assert first.user_attrs["settings"] == {"learning_rate": 0.003, "num_layers": 1, **dropouts, "units": 4}
    assert first.value == pytest.approx(0.007 + 0.3)
    rows = best_trials(study)
    losses = [row["valid_loss"] for row in rows]
    assert len(rows) == 5
    assert losses == sorted(losses)
    assert losses[0] < first.value
    assert [trial.user_attrs["in_force"] for trial in study.trials] == [True] + 6 * [False]
    assert cost(study) == {"trials": 7, "seconds": 10.5}


def test_each_trial_is_a_line_with_its_value_the_best_so_far_and_the_time_left(searching):
    searching(3)
    opening, *lines = searching.state["lines"]
    assert opening.endswith("a new study of 3 trials; the first one has the settings in force")
    assert lines[0].startswith("1/3 trial 0: valid loss 0.3070  best 0.3070 (trial 0)  rate 0.003  layers 1")
    assert [line.split()[0] for line in lines] == ["1/3", "2/3", "3/3"]
    assert "left" in lines[0]
    assert "left" not in lines[2]


def test_a_killed_search_goes_on_and_tries_what_an_undisturbed_one_tries(searching, tmp_path):
    whole = settings(searching(9, kill_at=None))
    (tmp_path / "search" / "notes.db").unlink()
    searching.state["trainings"] = 0
    for kill_at in (1, 6):
        with pytest.raises(Killed):
            searching(9, kill_at=kill_at)
    study = searching(9)
    assert settings(study) == whole
    assert [trial.state for trial in study.trials].count(TrialState.FAIL) == 2
    lines = " ".join(searching.state["lines"])
    assert "goes on after 4 of 9 trials; killed, and not counted: 2" in lines
    assert "trial 5 was stopped and does not count; the same command goes on" in lines


def test_a_search_that_reached_its_trials_trains_nothing_more_and_more_trials_go_on(searching):
    searching(3)
    assert searching.state["trainings"] == 3
    searching(3)
    assert searching.state["trainings"] == 3
    assert len(searching.state["recorder"].searches) == 1
    searching(5)
    assert searching.state["trainings"] == 5
    assert searching.state["recorder"].searches[1][3] == "0123", "the run of the first call is gone on with"


@pytest.mark.parametrize(
    "changes", [{"classifier": {"epochs": 3}}, {"experiment": {"seeds": (8,)}}, {"compute": {"mixed_precision": True}}]
)
def test_other_settings_start_a_new_study_and_say_so(searching, changes):
    searching(2)
    study = searching(2, changes=changes)
    assert len(study.trials) == 2
    assert searching.state["trainings"] == 4
    assert any("data or settings are others" in line for line in searching.state["lines"])


def test_other_data_start_a_new_study(searching):
    searching(2)
    write_json(searching.state["inputs"].tokenizer / "tokenizer.json", {"vocab_size": 31})
    searching(2)
    assert searching.state["trainings"] == 4


def test_another_seed_tries_other_settings(searching):
    first, second = (settings(searching(3, seed=seed)) for seed in (1, 2))
    assert first[0] == second[0]
    assert first[1:] != second[1:]


def test_trials_that_diverge_count_and_are_not_found(searching):
    def loss(trial, config):
        if config.learning_rate > 0.003:
            return Outcome(None, {}, 0, True, "the loss was not finite", 1.0)
        return Outcome(config.dropout, {"valid/loss": config.dropout}, 2, False, "", 1.0)

    study = searching(8, loss=loss)
    assert searching.state["trainings"] == 8
    assert any("diverged" in line for line in searching.state["lines"])
    assert all(row["settings"]["learning_rate"] <= 0.003 for row in best_trials(study))
    tags = [tags["ended"] for _, _, tags in searching.state["recorder"].trials]
    assert set(tags) == {"completed", "diverged"}


def test_a_search_in_which_every_trial_diverges_is_an_error_that_says_what_to_change(searching):
    study = searching(2, loss=lambda trial, config: Outcome(None, {}, 0, True, "not finite", 1.0))
    with pytest.raises(TrainingError, match="none of 2 trials trained to its end; lower learning_rate"):
        best_trials(study)


def test_no_trial_starts_when_the_time_is_up(searching):
    searching(50, seconds=1e-9)
    assert searching.state["trainings"] == 0
    assert "the time is up after 0 of 50 trials; the same command goes on" in searching.state["lines"]


def test_every_trial_is_recorded_below_the_search_with_the_hashes_of_its_inputs(searching):
    searching(3, task="language_model", cell="lstm")
    recorder = searching.state["recorder"]
    task, cell, tags, run_id = recorder.searches[0]
    assert (task, cell, run_id) == ("language_model", "lstm", None)
    assert {"git.commit", "hash.data", "hash.tokenizer", "hash.params", "hash.code"} <= set(tags)
    assert [number for number, *_ in recorder.trials] == [0, 1, 2]
    for _, params, _ in recorder.trials:
        assert params["units"] == params["embedding_dim"], "tied"


@pytest.mark.parametrize("name", ["train.parquet", "valid.parquet"])
def test_without_encoded_data_the_stage_to_run_is_named(searching, name):
    (searching.state["inputs"].encoded / name).unlink()
    with pytest.raises(ArtifactError, match=rf"{name}: no such file; run `dvc repro encode` first"):
        searching()


def test_a_search_over_classifiers_that_start_from_a_language_model_is_refused(searching):
    with pytest.raises(ConfigError, match=r"classifier\.pretrain: a search trains from drawn weights"):
        searching(changes={"classifier": {"pretrain": "language_model"}})
