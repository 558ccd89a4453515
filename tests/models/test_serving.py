"""serving.json: written and read back, and which seed it calls the best."""

from pathlib import Path

import pytest

from elman.artifacts import read_json
from elman.errors import ArtifactError
from elman.models.serving import Cleaning, Serving, TokenizerFile, read_serving, write_serving

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
