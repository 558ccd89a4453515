from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from elman.artifacts import write_json
from elman.config import parse_params
from elman.errors import TrainingError
from elman.models.parameter_count import count_parameters
from elman.training.architecture import cell_config, make_spec

PARAMS = Path(__file__).parents[2] / "params.yaml"


@pytest.fixture
def sources(tmp_path) -> dict[str, Path]:
    write_json(tmp_path / "tokenizer" / "tokenizer.json", {"vocab_size": 700})
    write_json(tmp_path / "labels.json", {"labels": ["a", "b", "c"]})
    return {"tokenizer": tmp_path / "tokenizer", "labels": tmp_path / "labels.json"}


def params(*, equal: str | None = "lstm", **sections: Any):
    data = YAML(typ="safe", pure=True).load(PARAMS.read_text())
    data["experiment"]["equal_parameters"] = equal
    for section, values in sections.items():
        data[section] |= values
    return parse_params(data)


@pytest.mark.parametrize("task", ["classifier", "language_model"])
def test_all_cells_have_as_many_parameters_as_the_named_one(sources, task):
    chosen = params()
    counts, units = {}, {}
    for cell in ("simple_rnn", "lstm", "gru"):
        config = cell_config(chosen, task=task, cell=cell, **sources)
        spec = make_spec(config, task=task, cell=cell, **sources)
        counts[cell], units[cell] = count_parameters(spec), config.units
        assert (spec.units, spec.embedding_dim) == (config.units, config.embedding_dim)
    assert units["lstm"] == getattr(chosen, task).units
    assert units["lstm"] < units["gru"] < units["simple_rnn"]
    assert counts["gru"] == pytest.approx(counts["lstm"], rel=0.02)
    assert counts["simple_rnn"] == pytest.approx(counts["lstm"], rel=0.02)


def test_what_a_cell_changes_besides_its_units_enters_the_count(sources):
    chosen = params(classifier_cells={"lstm": {"num_layers": 2}, "gru": {"embedding_dim": 32, "dropout": 0.1}})
    configs = {cell: cell_config(chosen, task="classifier", cell=cell, **sources) for cell in ("lstm", "gru")}
    counts = {
        cell: count_parameters(make_spec(config, task="classifier", cell=cell, **sources))
        for cell, config in configs.items()
    }
    assert (configs["gru"].embedding_dim, configs["gru"].dropout) == (32, 0.1)
    assert counts["gru"] == pytest.approx(counts["lstm"], rel=0.02)


def test_without_the_option_the_section_is_what_is_trained(sources):
    chosen = params(equal=None)
    assert cell_config(chosen, task="classifier", cell="gru", **sources) == chosen.classifier


def test_one_label_is_not_enough_for_a_classifier(sources):
    write_json(sources["labels"], {"labels": ["a"]})
    with pytest.raises(TrainingError, match="1 labels; a classifier needs 2 or more"):
        make_spec(params().classifier, task="classifier", cell="gru", **sources)
