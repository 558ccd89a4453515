import pytest

from elman.config import load_params
from elman.searching.preset import write_preset
from tests.helpers.encoded_project import PARAMS

FOUND = {"learning_rate": 0.0041, "dropout": 0.27, "units": 96, "num_layers": 2}


def preset(source, out, **changes):
    arguments = {"task": "classifier", "cell": "gru", "settings": FOUND, "cost": {"trials": 6, "seconds": 12.5}}
    write_preset(source, out, params=load_params(source), note="Found by a test.", **arguments | changes)
    return load_params(out)


def test_a_preset_is_the_whole_file_with_its_comments_and_the_found_values_for_one_cell(tmp_path):
    params = preset(PARAMS, tmp_path / "out.yaml")
    config = params.for_cell("classifier", "gru")
    assert (config.learning_rate, config.dropout, config.units, config.num_layers) == (0.0041, 0.27, 96, 2)
    original = load_params(PARAMS)
    assert params.for_cell("classifier", "lstm") == original.classifier
    assert params.model_dump(exclude={"classifier_cells", "tuning"}) == original.model_dump(
        exclude={"classifier_cells", "tuning"}
    )
    lines = (tmp_path / "out.yaml").read_text().splitlines()
    assert lines[0] == "# Found by a test."
    changed = set(lines) ^ set(PARAMS.read_text().splitlines())
    assert {line.split(":")[0].strip() for line in changed if not line.startswith("#")} == {
        "classifier_cells", "tuning", "gru", "classifier"
    }  # fmt: skip


def test_the_cost_is_recorded_and_that_of_an_earlier_search_is_added(tmp_path):
    first = preset(PARAMS, tmp_path / "first.yaml")
    assert first.tuning.classifier["gru"].model_dump() == {"trials": 6, "seconds": 12.5}
    second = preset(tmp_path / "first.yaml", tmp_path / "second.yaml", cell="lstm")
    third = preset(tmp_path / "second.yaml", tmp_path / "third.yaml", settings={"dropout": 0.1})
    assert second.tuning.classifier["gru"].trials == 6
    assert third.tuning.classifier["gru"].model_dump() == {"trials": 12, "seconds": 25.0}
    assert third.tuning.classifier["lstm"].trials == 6
    assert third.classifier_cells["gru"] == {**FOUND, "dropout": 0.1}


def test_both_tasks_can_be_tuned(tmp_path):
    preset(PARAMS, tmp_path / "first.yaml")
    both = preset(tmp_path / "first.yaml", tmp_path / "second.yaml", task="language_model", settings={"dropout": 0.0})
    assert both.language_model_cells["gru"] == {"dropout": 0.0}
    assert both.tuning.language_model["gru"].trials == both.tuning.classifier["gru"].trials == 6


def test_a_params_file_without_the_section_gets_it(tmp_path):
    text = "".join(
        line for line in PARAMS.read_text().splitlines(True) if not line.startswith(("tuning", "classifier_c"))
    )
    (tmp_path / "old.yaml").write_text(text)
    assert preset(tmp_path / "old.yaml", tmp_path / "out.yaml").tuning.classifier["gru"].trials == 6


@pytest.mark.parametrize("rate", [4.1e-5, 1e-10, 20.0, 3e5])
def test_a_rate_is_read_back_as_the_number_that_was_found(tmp_path, rate):
    params = preset(PARAMS, tmp_path / "out.yaml", settings={"learning_rate": rate})
    assert params.for_cell("classifier", "gru").learning_rate == rate
