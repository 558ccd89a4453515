from pathlib import Path

import pytest
from ruamel.yaml import YAML

from elman.config import load_params, parse_params
from elman.errors import ConfigError

PARAMS = Path(__file__).parents[1] / "params.yaml"


def changed(text_or_path: str, value: object = None) -> dict:
    data = YAML(typ="safe", pure=True).load(PARAMS.read_text())
    *sections, key = text_or_path.split(".")
    place = data
    for section in sections:
        place = place[section]
    place[key] = value
    return data


def refusal(path: str, value: object) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_params(changed(path, value))
    return str(caught.value)


def test_the_file_of_the_repository_is_valid():
    assert load_params(PARAMS).experiment.cells == ("simple_rnn", "lstm", "gru")


def test_a_number_in_exponent_form_is_a_number(tmp_path):
    text = PARAMS.read_text().replace("learning_rate: 3e-3", "learning_rate: 1e-3")
    (tmp_path / "params.yaml").write_text(text)
    assert load_params(tmp_path / "params.yaml").classifier.learning_rate == 0.001


def test_yes_and_no_are_words(tmp_path):
    (tmp_path / "params.yaml").write_text(PARAMS.read_text().replace("text_column: text", "text_column: yes"))
    assert load_params(tmp_path / "params.yaml").dataset.text_column == "yes"


def test_a_misspelled_key_is_named_with_its_path_and_the_nearest_valid_name():
    assert "classifier.dropuot: unknown key; did you mean dropout?" in refusal("classifier.dropuot", 0.5)


def test_a_misspelled_section_is_named_with_the_nearest_valid_name():
    assert "clasifier: unknown key; did you mean classifier?" in refusal("clasifier", {})


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        ("classifier.epochs", 3.0, "classifier.epochs: Input should be a valid integer, but came 3.0 (float)"),
        ("classifier.global_clipnorm", float("inf"), "classifier.global_clipnorm: Input should be a finite number"),
        ("classifier.learning_rate", "1e-3", "classifier.learning_rate: Input should be a valid number"),
        ("classifier.dropout", 1.0, "classifier.dropout: Input should be less than 1"),
        ("compute.deterministic", "yes", "compute.deterministic: Input should be a valid boolean"),
        ("experiment.cells", ["lstm", "gro"], "experiment.cells.1: Input should be"),
        ("experiment.seeds", [1, 1], "experiment.seeds names a value twice"),
        ("retraining.min_drift_rows", 0, "retraining.min_drift_rows: Input should be greater than 0, but came 0 (int)"),
        ("experiment.seeds", 0, "experiment.seeds: a number of seeds must be 1 or more, but came 0"),
        ("experiment.seeds", -3, "experiment.seeds: a number of seeds must be 1 or more, but came -3"),
        ("experiment.seeds", True, "experiment.seeds: Input should be a valid tuple, but came True"),
        ("experiment.seeds", 2.0, "experiment.seeds: Input should be a valid tuple, but came 2.0"),
        ("experiment.seeds", [], "experiment.seeds"),
        ("experiment.equal_parameters", "lstn", "experiment.equal_parameters: Input should be"),
        (
            "tuning",
            {"classifier": {"lstm": {"trials": 0, "seconds": 1.0}}},
            "tuning.classifier.lstm.trials: Input should",
        ),
        ("tuning", {"classifier": {"lstm": {"trials": 3}}}, "tuning.classifier.lstm.seconds: this key is missing"),
        ("tuning", {"classifier": {"lstm": {"trails": 3, "seconds": 1}}}, "trails: unknown key; did you mean trials?"),
        ("tuning", {"clasifier": {}}, "tuning.clasifier: unknown key; did you mean classifier?"),
        (
            "tuning",
            {"classifier": {"lstn": {"trials": 3, "seconds": 1}}},
            "Input should be 'simple_rnn', 'lstm' or 'gru'",
        ),
        ("tokenizer.byte_fallback", 1, "tokenizer.byte_fallback: Input should be a valid boolean"),
        ("dataset.label_column", None, "set dataset.tasks to [language_model]"),
        ("language_model.units", 65, "tie_embeddings needs embedding_dim equal to units"),
        ("prepare.repeats", "drop", "prepare.repeats: Input should be 'remove' or 'keep', but came 'drop'"),
        ("prepare.max_leaked_fraction", 2.5, "Input should be less than or equal to 1, but came 2.5"),
        ("language_model.kernel_initializer", "orthogonal", "'uniform_by_units', but came 'orthogonal'"),
        ("compute.jit_compile", True, "compute.jit_compile: unknown key"),
        ("classifier.jit_compile", True, "classifier.jit_compile: unknown key"),
        ("classifier.weight_decay", 0.1, "weight_decay needs the optimizer adamw"),
        ("classifier.clipnorm", 1.0, "exclude each other"),
        ("classifier.pretrain", "lm", "classifier.pretrain: Input should be 'none' or 'language_model', but came 'lm'"),
        ("classifier.label_fraction", 0.0, "classifier.label_fraction: Input should be greater than 0"),
        ("classifier.unfreeze", "gradual", "classifier: unfreeze and rate_decay keep what layers have learned"),
        ("classifier.rate_decay", 0.4, "with pretrain none there is nothing to keep"),
        (
            "classifier_cells",
            {"lstm": {"label_fraction": 0.5}},
            "classifier_cells.lstm.label_fraction: is the same for all cells; set classifier.label_fraction instead",
        ),
        ("classifier_cells", {"lstm": {"unts": 3}}, "classifier_cells.lstm.unts: unknown key; did you mean units?"),
        ("classifier_cells", {"lstm": {"units": "3"}}, "units"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path_and_what_came(path, value, part):
    assert part in refusal(path, value)


def test_a_missing_key_is_named():
    data = changed("dataset.path", "x")
    del data["dataset"]["path"]
    with pytest.raises(ConfigError, match=r"dataset\.path: this key is missing"):
        parse_params(data)


def test_all_wrong_values_are_told_at_once():
    data = changed("classifier.dropuot", 0.5)
    data["language_model"]["epochs"] = "many"
    with pytest.raises(ConfigError, match=r"2 value\(s\) refused"):
        parse_params(data)


@pytest.mark.parametrize("text", ["a: b: c", "- 1\n- 2", "dataset: {path: x}\ndataset: {path: y}", "\x00"])
def test_a_file_that_is_not_a_yaml_mapping_is_a_clear_error(tmp_path, text):
    (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"params\.yaml"):
        load_params(tmp_path / "params.yaml")


def test_a_missing_file_is_a_clear_error(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        load_params(tmp_path / "params.yaml")


def test_a_cell_can_change_its_tasks_section():
    data = changed("classifier_cells", {"simple_rnn": {"learning_rate": 1e-3}})
    params = parse_params(data)
    assert params.for_cell("classifier", "simple_rnn").learning_rate == 1e-3
    assert params.for_cell("classifier", "lstm").learning_rate == 3e-3


def test_a_number_of_seeds_means_1_to_that_number_and_a_list_stays_as_it_is():
    assert parse_params(changed("experiment.seeds", 5)).experiment.seeds == (1, 2, 3, 4, 5)
    assert parse_params(changed("experiment.seeds", [7, 0])).experiment.seeds == (7, 0)


def test_a_cell_that_is_not_compared_cannot_give_the_number_of_parameters():
    data = changed("experiment", {"cells": ["gru", "lstm"], "seeds": 1, "equal_parameters": "simple_rnn"})
    with pytest.raises(
        ConfigError, match=r"equal_parameters: simple_rnn is not one of experiment\.cells \['gru', 'lstm'\]"
    ):
        parse_params(data)


def test_a_cell_that_sets_its_units_while_they_are_chosen_is_refused():
    data = changed("experiment.equal_parameters", "lstm")
    data["classifier_cells"] = {"gru": {"units": 70, "dropout": 0.2}}
    with pytest.raises(
        ConfigError, match=r"classifier_cells\.gru\.units: experiment\.equal_parameters chooses the units"
    ):
        parse_params(data)


def test_values_are_frozen():
    params = load_params(PARAMS)
    with pytest.raises(Exception, match="frozen"):
        params.classifier.epochs = 3


def pretrained(changes: dict[str, dict]) -> dict:
    """The file's params with classifiers of the language models' shape, which start from them."""
    data = changed("classifier.pretrain", "language_model")
    data["classifier"] |= {"embedding_dim": 96, "units": 96, "bidirectional": False}
    for section, values in changes.items():
        data[section] |= values
    return data


def test_classifiers_of_the_language_models_shape_can_start_from_them():
    options = {"unfreeze": "gradual", "rate_decay": 0.4, "label_fraction": 0.1}
    params = parse_params(pretrained({"classifier": options, "classifier_cells": {"gru": {"rate_decay": 1.0}}}))
    assert params.for_cell("classifier", "gru").unfreeze == "gradual"


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"classifier": {"units": 64}}, "classifier.units is 64 and language_model.units is 96: classifier.pretrain"),
        ({"classifier": {"embedding_dim": 9}}, "classifier.embedding_dim is 9 and language_model.embedding_dim is 96"),
        ({"language_model": {"num_layers": 2}}, "classifier.num_layers is 1 and language_model.num_layers is 2"),
        (
            {"language_model_cells": {"gru": {"units": 40, "embedding_dim": 40}}},
            "classifier.embedding_dim is 96 and language_model_cells.gru.embedding_dim is 40",
        ),
        ({"classifier": {"bidirectional": True}}, "classifier.bidirectional is true, and classifier.pretrain"),
        ({"dataset": {"tasks": ["classifier"]}}, "set dataset.tasks to [classifier, language_model], or classifier."),
        ({"experiment": {"equal_parameters": "lstm"}}, "experiment.equal_parameters chooses the units of each task"),
        ({"classifier_cells": {"gru": {"pretrain": "none"}}}, "classifier_cells.gru.pretrain: is the same for all"),
        ({"classifier": {"rate_decay": 0.4, "optimizer": "sgd"}}, "need the optimizer adam, but came sgd"),
        ({"classifier": {"unfreeze": "gradual", "epochs": 2}}, "epochs is 2 and must be 3 or more"),
    ],
)
def test_what_keeps_a_classifier_from_starting_from_a_language_model_is_named_by_its_keys(changes, part):
    with pytest.raises(ConfigError) as caught:
        parse_params(pretrained(changes))
    assert part in str(caught.value)
