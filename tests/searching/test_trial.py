from types import SimpleNamespace

import optuna
import pytest
from optuna.distributions import FloatDistribution

from elman.artifacts import read_table
from elman.config import load_params
from elman.data.sequences import read_encoded
from elman.models.parameter_count import count_parameters
from elman.searching.study import open_study
from elman.searching.trial import EndBehind, config_with, run_trial
from tests.helpers.encoded_project import write_encoded_project


class Unrecorded:
    run_id = "none"

    def __init__(self):
        self.epochs = []

    def log_epoch(self, epoch, metrics):
        self.epochs.append(epoch)


@pytest.fixture
def prepared(tmp_path):
    inputs = write_encoded_project(tmp_path)
    return inputs, load_params(tmp_path / "params.yaml")


def train(prepared, settings, cell="simple_rnn", task="classifier"):
    inputs, params = prepared
    config, spec = config_with(params, settings, task=task, cell=cell, inputs=inputs)
    splits = tuple(read_encoded(inputs.encoded / f"{split}.parquet") for split in ("train", "valid"))
    run = Unrecorded()
    trial = optuna.create_study().ask({"x": FloatDistribution(0.0, 1.0)})
    return run_trial(trial, config, spec, splits, run), run, trial


def test_a_trial_is_judged_by_its_best_epoch_on_validation(prepared):
    outcome, run, trial = train(prepared, {"epochs": 3, "learning_rate": 0.02})
    losses = trial.study.trials[0].intermediate_values
    assert sorted(losses) == run.epochs == [1, 2, 3]
    assert outcome.loss == min(losses.values()) == outcome.measures["valid/loss"]
    assert set(outcome.measures) == {"valid/loss", "valid/accuracy", "valid/macro_f1"}
    assert (outcome.epochs, outcome.pruned, outcome.reason) == (3, False, "")


def test_the_same_settings_give_the_same_loss_and_others_another(prepared):
    losses = [train(prepared, {"units": units, "epochs": 1})[0].loss for units in (4, 4, 6)]
    assert losses[0] == losses[1] != losses[2]


def test_a_trial_that_diverges_says_why_and_counts_as_ended_early(prepared):
    settings = {"learning_rate": 1e30, "optimizer": "sgd", "global_clipnorm": None, "max_skipped_steps": 1}
    outcome, _, _ = train(prepared, settings)
    assert outcome.pruned
    assert "lower learning_rate" in outcome.reason


def test_settings_of_a_cell_add_to_those_that_it_has(prepared):
    inputs, params = prepared
    params = params.model_copy(update={"classifier_cells": {"gru": {"embedding_dim": 6, "dropout": 0.1}}})
    config, spec = config_with(params, {"dropout": 0.2}, task="classifier", cell="gru", inputs=inputs)
    assert (config.embedding_dim, config.dropout, spec.dropout, spec.seed) == (6, 0.2, 0.2, 7)


def test_with_equal_parameters_other_layers_get_other_units(prepared):
    inputs, params = prepared
    experiment = params.experiment.model_copy(update={"equal_parameters": "lstm"})
    section = params.classifier.model_copy(update={"units": 40})
    params = params.model_copy(update={"experiment": experiment, "classifier": section})
    sizes, units = [], []
    for layers in (1, 2):
        _, spec = config_with(params, {"num_layers": layers}, task="classifier", cell="gru", inputs=inputs)
        sizes.append(count_parameters(spec))
        units.append(spec.units)
    assert units[0] > units[1]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.04)


def curve(study, values, *, epochs=4) -> EndBehind:
    """One trial with these validation losses; it is told to the study."""
    trial = study.ask({"x": FloatDistribution(0.0, 1.0)})
    watcher = EndBehind(trial, epochs)
    watcher.set_model(SimpleNamespace(stop_training=False))
    for epoch, value in enumerate(values):
        watcher.on_epoch_end(epoch, {"valid/loss": value})
        if watcher.model.stop_training:
            break
    if not watcher.ended:
        study.tell(trial, min(values))
    return watcher


def test_a_trial_behind_the_median_is_ended_from_the_second_epoch_on(tmp_path):
    study = open_study(tmp_path / "a.db", "key")
    for values in ([5, 4, 3, 2], [5, 3, 3, 3], [6, 5, 5, 5], [4, 2, 2, 1]):
        assert not curve(study, values).ended
    worse = curve(study, [9, 8, 7, 6])
    assert worse.ended
    assert len(worse.history) == 2
    assert not curve(study, [9, 3, 2, 2]).ended


def test_the_last_epoch_ends_no_trial(tmp_path):
    study = open_study(tmp_path / "a.db", "key")
    for values in ([5, 4], [5, 3], [6, 5], [4, 2]):
        curve(study, values, epochs=2)
    assert not curve(study, [9, 8], epochs=2).ended


def test_the_small_data_has_no_test_split(prepared):
    inputs, _ = prepared
    assert not (inputs.encoded / "test.parquet").exists()
    assert read_table(inputs.encoded / "valid.parquet").num_rows == 20
