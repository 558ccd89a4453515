"""serving.json: written and read back, and which seed it calls the best."""

import inspect
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from elman.artifacts import read_json
from elman.data.cleaning import clean_text
from elman.errors import ArtifactError
from elman.models.serving import Cleaning, Serving, TokenizerFile, read_serving, write_serving
from tests.helpers.stage_deps import ROOT

SERVING = Serving(
    task="language_model",
    cell="gru",
    cleaning=Cleaning(unicode_form="NFKC", lowercase=True, whitespace="keep"),
    tokenizer=TokenizerFile(path="../../tokenizer", sha256="7" * 64),
    mixed_precision=True,
    state="stream",
    window_length=35,
    valid_loss={12: 4.5, 3: 4.25, 7: 4.25},
)


def test_what_was_written_is_read_back_and_holds_nothing_of_the_other_task(tmp_path: Path) -> None:
    write_serving(tmp_path, SERVING)
    assert read_serving(tmp_path) == SERVING
    written = read_json(tmp_path / "serving.json")
    assert not {"labels", "max_length"} & set(written)
    assert (written["version"], written["valid_loss"]) == (1, {"12": 4.5, "3": 4.25, "7": 4.25})


def test_of_seeds_that_are_equally_good_the_lower_number_is_the_best() -> None:
    assert SERVING.best_seed == 3


def test_a_file_that_is_no_json_is_refused_with_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "serving.json").write_text('{"version": 1')
    with pytest.raises(ArtifactError, match=r"serving\.json: the file: Invalid JSON.*dvc repro"):
        read_serving(tmp_path)


def test_every_setting_of_cleaning_travels_with_a_model_and_train_runs_again_when_it_changes() -> None:
    settings = {name for name, one in inspect.signature(clean_text).parameters.items() if one.kind == one.KEYWORD_ONLY}
    assert set(Cleaning.model_fields) == settings
    pipeline = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())
    assert {f"prepare.{name}" for name in settings} <= set(pipeline["stages"]["train"]["params"])
