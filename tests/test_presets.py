from pathlib import Path

import pytest

from elman.config import load_params
from elman.data.catalog import DATASETS, KNOWN_TEXTS

FOUND = (Path(__file__).parents[1] / "presets").glob("*.yaml")
PRESETS = sorted(preset for preset in FOUND if not preset.stem.endswith("-search"))  # what a user's search found is his


def test_the_published_recipes_are_there():
    names = {preset.stem for preset in PRESETS}
    assert {"ptb-word-language-model", "ptb-word-language-model-untied", "ptb-zaremba-small"} <= names


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.stem)
def test_a_preset_is_a_whole_params_file_on_data_that_the_catalog_knows(preset):
    params = load_params(preset)
    assert params.dataset.name in DATASETS | KNOWN_TEXTS
    assert not Path(params.dataset.path).is_absolute()


@pytest.mark.parametrize("preset", [p for p in PRESETS if p.stem.startswith("ptb-")], ids=lambda preset: preset.stem)
def test_a_preset_on_ptb_keeps_its_10_000_types_and_every_line(preset):
    params = load_params(preset)
    known = KNOWN_TEXTS["ptb"]
    assert (params.tokenizer.model, params.tokenizer.vocab_size) == ("word", known.types + 2)
    assert (params.prepare.repeats, params.prepare.lowercase) == ("keep", False)
    assert params.prepare.max_leaked_fraction >= 85 / 3370 + 12 / 3342  # of valid, exact and near
    assert {params.dataset.train, params.dataset.valid, params.dataset.test} == set(known.files)
    assert params.language_model.state == "stream"


def test_the_two_forms_of_pytorchs_recipe_differ_in_tied_weights_only():
    found = {preset.stem: preset for preset in PRESETS}
    tied, untied = (load_params(found[f"ptb-word-language-model{suffix}"]) for suffix in ("", "-untied"))
    assert tied.language_model.tie_embeddings
    assert not untied.language_model.tie_embeddings
    same = {"dataset", "prepare", "tokenizer", "experiment", "compute", "classifier"}
    assert tied.model_dump(include=same) == untied.model_dump(include=same)
    other = untied.language_model.model_dump() | {"tie_embeddings": True}
    assert tied.language_model.model_dump() == other


def test_the_two_presets_on_r8_differ_in_cell_tokenizer_and_adversarial_training_only():
    found = {preset.stem: preset for preset in PRESETS}
    plain, adversarial = (load_params(found[f"r8-{name}"]).model_dump() for name in ("bidirectional", "adversarial"))
    changed = {"experiment.cells", "tokenizer.model", "tokenizer.vocab_size", "classifier.adversarial_epsilon"}
    assert {
        f"{section}.{key}"
        for section, values in plain.items()
        for key, value in values.items()
        if value != adversarial[section][key]
    } == changed
