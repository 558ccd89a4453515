"""What `open_package` refuses. No test here needs a model."""

import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from elman.artifacts import read_json, write_json
from elman.errors import ArtifactError
from elman.packages.package import MANIFEST, WEIGHTS, is_package, open_package
from tests.helpers.packages import sign, write_archive, write_plain_package


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return write_plain_package(tmp_path / "package", seed=3)


def test_a_sound_package_says_what_it_is(package: Path) -> None:
    opened = open_package(package)
    assert (opened.folder, opened.task, opened.cell, opened.seed) == (package, "classifier", "gru", 3)
    assert (opened.metrics, opened.provenance) == ({"accuracy": 0.9}, {"commit": "abc"})
    assert opened.serving.labels == ("left", "right")
    assert is_package(package)
    assert not is_package(package / "model")


def test_the_hash_is_of_everything(package: Path, tmp_path: Path) -> None:
    same, other = (write_plain_package(tmp_path / name, seed=seed) for name, seed in (("same", 3), ("other", 4)))
    assert open_package(same).hash == open_package(package).hash
    assert open_package(other).hash != open_package(package).hash
    sign(same, metrics={"accuracy": 0.91})
    assert open_package(same).hash != open_package(package).hash


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def _link(path: Path) -> None:
    path.rename(path.parent.parent.parent / path.name)
    path.symlink_to(path.parent.parent.parent / path.name)


DAMAGES: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: (folder / MANIFEST).unlink(), "no model package: there is no package.json"),
    (lambda folder: (folder / "tokenizer/tokenizer.json").unlink(), "lacks tokenizer/tokenizer.json"),
    (lambda folder: _flip(folder / WEIGHTS), r"model\.keras: was changed: its SHA-256 is [0-9a-f]{64}"),
    (lambda folder: _flip(folder / "serving.json"), r"serving\.json: was changed"),
    (lambda folder: (folder / "model/model.h5").write_bytes(b"\x89HDF"), r"has model/model\.h5.*an \.h5 file"),
    (lambda folder: (folder / "more.pkl").write_bytes(pickle.dumps(1)), r"has more\.pkl.*or a pickle"),
    (lambda folder: _link(folder / "tokenizer/tokenizer.model"), r"tokenizer\.model: is a link"),
    (lambda folder: _link(folder / "model/model.json"), r"model\.json: is a link"),
    (lambda folder: (folder / "more").symlink_to("/etc"), "more: is a link"),
    (lambda folder: os.mkfifo(folder / "more"), "more: is no plain file"),
    (lambda folder: (folder / MANIFEST).write_text("{"), r"package\.json: the file: Invalid JSON"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_a_missing_changed_or_additional_file_is_refused(
    package: Path, damage: Callable[[Path], object], message: str
) -> None:
    damage(package)
    with pytest.raises(ArtifactError, match=message):
        open_package(package)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "model/../../secret", "..\\secret", "C:\\secret"])
def test_a_name_that_leaves_the_folder_is_refused(package: Path, name: str) -> None:
    (package.parent / "secret").write_text("x")
    manifest = read_json(package / MANIFEST)
    write_json(package / MANIFEST, {**manifest, "files": {**manifest["files"], name: "0" * 64}})
    with pytest.raises(ArtifactError, match="leaves the folder"):
        open_package(package)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, r"version: Input should be 1.*reads packages of version 1"),
        ({"colour": "red"}, r"colour: Extra inputs are not permitted"),
        ({"probes": []}, r"probes: Tuple should have at least 8 items"),
        ({"probes": [{"text": "a", "nll_nats": 1.0, "num_tokens": 1}] * 8}, "stored prediction is not one of a class"),
        ({"seed": 4}, r"package\.json is of .*\[4\].*serving\.json of .*\[3\]"),
        ({"task": "language_model"}, "not one of a language_model"),
        ({"files": {WEIGHTS: "0" * 64}}, r"package\.json lacks model/model\.json"),
        ({"files": {WEIGHTS: "abc"}}, r"files\.model/model\.keras: String should match"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(package: Path, changes: dict[str, object], message: str) -> None:
    write_json(package / MANIFEST, {**read_json(package / MANIFEST), **changes})
    with pytest.raises(ArtifactError, match=message):
        open_package(package)


def test_a_tokenizer_elsewhere_is_refused_although_the_hashes_are_right(package: Path) -> None:
    serving = read_json(package / "serving.json")
    write_json(package / "serving.json", {**serving, "tokenizer": {**serving["tokenizer"], "path": "../tokenizer"}})
    sign(package)
    with pytest.raises(ArtifactError, match=r"names the tokenizer '\.\./tokenizer'; a package has its own"):
        open_package(package)


OURS = {"module": "elman.models.classifier", "class_name": "Classifier"}
LAMBDA = {"module": "keras.layers", "class_name": "Lambda", "config": {"function": {"class_name": "__lambda__"}}}
DENSE = {"module": "keras.layers", "class_name": "Dense", "config": {}}


@pytest.mark.parametrize(
    ("config", "more", "message"),
    [
        (LAMBDA, {}, r"names keras\.layers\.Lambda; a classifier is elman\.models\.classifier\.Classifier\. Refused"),
        ({"module": "os", "class_name": "system"}, {}, r"names os\.system"),
        ({"module": "elman.models.language_model", "class_name": "LanguageModel"}, {}, "LanguageModel; a classifier"),
        (OURS, {"head": [{"deep": LAMBDA}]}, r"holds the class keras\.layers\.Lambda, which no model of ours has"),
        (OURS, {"head": DENSE}, r"holds the class keras\.layers\.Dense"),
        (OURS, {"spec": {"version": 1}}, r"describes another model than the model\.json beside it"),
    ],
)
def test_a_planted_archive_is_refused_although_the_hashes_are_right(
    package: Path, config: dict[str, object], more: dict[str, object], message: str
) -> None:
    spec = read_json(package / "model/model.json")
    write_archive(package / WEIGHTS, {"config": {"spec": spec, **more}, **config})
    sign(package)
    with pytest.raises(ArtifactError, match=message):
        open_package(package)


def test_what_is_no_archive_as_keras_writes_one_is_refused(package: Path) -> None:
    config = {**OURS, "config": {"spec": read_json(package / "model/model.json")}}
    path = package / WEIGHTS

    def refused(message: str) -> None:
        sign(package)
        with pytest.raises(ArtifactError, match=message):
            open_package(package)

    path.write_bytes(pickle.dumps({"weights": 1}))
    refused(r"model\.keras: no \.keras archive")
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(1000))
    refused(r"model\.keras: no \.keras archive")
    write_archive(path, config, members={"../../evil.py": b"import os"})
    refused(r"holds \.\./\.\./evil\.py, config\.json")
    write_archive(path, config, compression=zipfile.ZIP_DEFLATED)
    refused("is compressed")
    write_archive(path, {**config, "padding": "x" * (1 << 20)})
    refused("longer than 1,048,576 bytes")
    path.write_bytes(path.read_bytes().replace(b"spec", b"spek"))
    refused(r"no \.keras archive|longer than")
    write_archive(path, [config])  # type: ignore[arg-type]
    refused("describes no model")
    write_archive(path, config)
    sign(package)
    assert open_package(package).seed == 3
