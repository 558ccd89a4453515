import hashlib
import json
from pathlib import Path

import pytest

from elman.config import DatasetConfig
from elman.errors import ArtifactError, DataError
from elman.retraining import intake
from elman.retraining.intake import Snapshot, open_snapshot, take


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "reviews.csv"
    path.parent.mkdir()
    path.write_text("text,label\ngood film,good\n")
    return path


def taken(source: Path, *, settle: float = 0.0, fallback: str | None = None) -> Snapshot:
    dataset = DatasetConfig(path=str(source), tasks=("language_model",))
    inputs = source.parent.parent / "inputs"
    accepted = None if fallback is None else lambda: open_snapshot(inputs, fallback)
    return take(dataset, inputs, settle_seconds=settle, fallback=accepted)


def manifest(source: Path, text: bytes) -> None:
    entry = {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    source.with_name(f"{source.name}.manifest.json").write_text(json.dumps({"files": {source.name: entry}}))


def test_a_snapshot_is_named_by_its_contents_and_is_no_link_to_the_input(source):
    first = taken(source)
    assert first.path.name == "reviews.csv"
    assert first.path.read_bytes() == source.read_bytes()
    assert taken(source).hash == first.hash
    with source.open("a") as file:
        file.write("bad film,bad\n")
    second = taken(source)
    assert second.hash != first.hash
    assert first.path.read_text() == "text,label\ngood film,good\n"
    assert len(list(first.path.parents[1].iterdir())) == 2, "no copy is left half-way"


def test_a_folder_is_taken_with_its_folders_and_without_hidden_files(source):
    folder = source.parent
    (folder / "more").mkdir()
    (folder / "more" / "b.csv").write_text("text\nx\n")
    (folder / ".b.csv.part").write_text("te")
    found = taken(folder)
    assert sorted(path.relative_to(found.path).as_posix() for path in found.path.rglob("*.csv*")) == [
        "more/b.csv",
        "reviews.csv",
    ]


class Writer:
    """A program that appends a row in each of the next moments, and the clock of this world."""

    def __init__(self, source: Path, *, moments: float) -> None:
        self.source, self.left, self.seconds = source, moments, 0.0

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.left > 0:
            self.left -= 1
            with self.source.open("a") as file:
                file.write("a film,good\n")

    def monotonic(self) -> float:
        return self.seconds


def test_input_that_grows_is_waited_for(source, monkeypatch):
    monkeypatch.setattr(intake, "time", Writer(source, moments=6))
    found = taken(source, settle=5.0)
    assert found.path.read_text().count("a film") == 6
    assert found.note == ""


def test_input_that_never_settles_gives_way_to_the_one_accepted_last(source, monkeypatch):
    old = taken(source)
    writer = Writer(source, moments=float("inf"))
    monkeypatch.setattr(intake, "time", writer)
    found = taken(source, settle=5.0, fallback=old.hash)
    assert (found.hash, found.path) == (old.hash, old.path)
    assert "still being written" in found.note
    assert "was used instead" in found.note
    assert writer.seconds == 60.0
    with pytest.raises(DataError, match="was waited for 60 s; no input was accepted before"):
        taken(source, settle=5.0)


def test_with_a_manifest_only_what_it_lists_is_whole(source):
    text = source.read_bytes()
    manifest(source, text + b"bad film,bad\n")
    with pytest.raises(DataError, match=r"other files or sizes than reviews.csv.manifest.json lists"):
        taken(source)
    manifest(source, text.replace(b"good film", b"fine film"))
    with pytest.raises(DataError, match="contents are not those"):
        taken(source)
    source.with_name("reviews.csv.manifest.json").write_text('{"files": {"reviews.csv"')
    with pytest.raises(DataError, match="not of the form"):
        taken(source)
    manifest(source, text)
    assert taken(source).path.read_bytes() == text


def test_input_that_changes_while_it_is_copied_is_not_taken(source, monkeypatch):
    whole = intake.shutil.copyfile

    def copy_while_somebody_writes(one: Path, other: Path) -> None:
        whole(one, other)
        with source.open("a") as file:
            file.write("late film,bad\n")

    monkeypatch.setattr(intake.shutil, "copyfile", copy_while_somebody_writes)
    with pytest.raises(DataError, match="changed while it was copied"):
        taken(source)
    monkeypatch.undo()
    assert taken(source).path.read_text().endswith("late film,bad\n")


def test_a_damaged_snapshot_is_told_and_taken_anew(source):
    first = taken(source)
    first.path.write_text("text,label\n")
    with pytest.raises(ArtifactError, match="not as it was copied"):
        open_snapshot(first.path.parents[1], first.hash)
    assert taken(source).path.read_bytes() == source.read_bytes()


def test_a_missing_input_is_told_with_what_is_near(source):
    with pytest.raises(DataError, match=r"did you mean .*reviews\.csv"):
        taken(source.with_name("review.csv"))
