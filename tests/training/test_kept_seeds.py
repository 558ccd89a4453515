from pathlib import Path

import pytest

from elman.training.kept_seeds import KeptSeed, read_trained, remove_others, write_trained

KEPT = KeptSeed({"epochs": 4, "train_seconds": 1.5}, run_id="a" * 32, parent_run_id="b" * 32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "seed-3"
    folder.mkdir()
    for name in ("model.keras", "model.json", "history.json"):
        (folder / name).write_text(f"what {name} holds")
    write_trained(folder, key="key of all that it depends on", kept=KEPT)
    return folder


def test_a_training_with_the_same_key_is_found_again(folder: Path) -> None:
    assert read_trained(folder, key="key of all that it depends on") == KEPT


def test_other_settings_data_or_code_find_nothing(folder: Path) -> None:
    assert read_trained(folder, key="another key") is None


@pytest.mark.parametrize("name", ["model.keras", "model.json", "history.json", "trained.json"])
def test_a_file_that_is_gone_or_changed_is_trained_again(folder: Path, name: str) -> None:
    (folder / name).write_text("{")
    assert read_trained(folder, key="key of all that it depends on") is None
    (folder / name).unlink()
    assert read_trained(folder, key="key of all that it depends on") is None


def test_a_folder_without_its_last_file_was_never_finished(tmp_path: Path) -> None:
    assert read_trained(tmp_path / "seed-1", key="key") is None


def test_seeds_that_are_not_asked_for_are_deleted_and_their_runs_named(folder: Path) -> None:
    out = folder.parent
    (out / "seed-12").mkdir()
    (out / "plan.json").write_text("{}")
    assert remove_others(out, [3]) == {}
    assert not (out / "seed-12").exists()
    assert remove_others(out, [4]) == {3: "a" * 32}
    assert [path.name for path in out.iterdir()] == ["plan.json"]
