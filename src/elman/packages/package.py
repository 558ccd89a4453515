"""A model package on disk: what is in it, and what is refused. Nothing here loads TensorFlow.

```
package.json                 what the package is; SHA-256 of every other file; stored predictions
serving.json                 labels, cleaning, lengths: as beside a cell's models, and where the tokenizer is
model/model.json             the architecture in our own words
model/model.keras            the weights
tokenizer/tokenizer.model    the SentencePiece model
tokenizer/tokenizer.json     its description
```

A package has these files and no others, so that there is no place for a pickle, an .h5 or code.
"""

import os
import stat
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from elman.artifacts import read_json, sha256_file
from elman.config import Section, Task
from elman.errors import ArtifactError
from elman.models.serving import NAME as SERVING
from elman.models.serving import Serving, read_serving
from elman.packages.archive import check_archive
from elman.storage import can_exist

MANIFEST = "package.json"
MODEL = "model"
TOKENIZER = "tokenizer"
WEIGHTS = f"{MODEL}/model.keras"
FILES = (SERVING, f"{MODEL}/model.json", WEIGHTS, f"{TOKENIZER}/tokenizer.model", f"{TOKENIZER}/tokenizer.json")
NUM_PROBES = 8

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Probe(Section):
    """What the model said of a text when the package was written.

    Attributes:
        text: The text.
        probabilities: Classifier: of the classes, in their order.
        nll_nats: Language model: of the whole text, from a zero state.
        num_tokens: Language model: tokens of the text, eos included.
    """

    text: str
    probabilities: tuple[float, ...] | None = None
    nll_nats: float | None = None
    num_tokens: Annotated[int, Field(gt=0)] | None = None


class Manifest(Section):
    """package.json.

    Attributes:
        task: "classifier" or "language_model".
        cell: The recurrent layer.
        seed: Of the training.
        versions: Of elman, keras, tensorflow, sentencepiece and python, where the package was written.
        params: What it was trained with.
        metrics: What it reached.
        provenance: Hashes and the commit of what it was made from.
        probes: Eight texts and what the model said of them.
        files: SHA-256 of each file, by its name in the package.
    """

    version: Literal[1] = 1
    task: Task
    cell: str
    seed: int
    versions: dict[str, str]
    params: dict[str, Any]
    metrics: dict[str, Any]
    provenance: dict[str, str]
    probes: Annotated[tuple[Probe, ...], Field(min_length=NUM_PROBES, max_length=NUM_PROBES)]
    files: dict[str, Sha256]

    @model_validator(mode="after")
    def _check(self) -> Self:
        for probe in self.probes:
            own = (probe.probabilities,) if self.task == "classifier" else (probe.nll_nats, probe.num_tokens)
            if None in own:
                raise ValueError(f"a stored prediction is not one of a {self.task}")
        return self


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package whose files were checked.

    Attributes:
        folder: Where it is.
        manifest: What package.json says.
        serving: What serving.json says.
        hash: SHA-256 of package.json, and so of everything in the package.
    """

    folder: Path
    manifest: Manifest
    serving: Serving
    hash: str

    @property
    def task(self) -> str:
        """Classifier or language_model."""
        return self.manifest.task

    @property
    def cell(self) -> str:
        """The recurrent layer."""
        return self.manifest.cell

    @property
    def seed(self) -> int:
        """Of the training."""
        return self.manifest.seed

    @property
    def metrics(self) -> Mapping[str, Any]:
        """What the model reached."""
        return self.manifest.metrics

    @property
    def provenance(self) -> Mapping[str, str]:
        """Hashes and the commit of what the model was made from."""
        return self.manifest.provenance


def is_package(folder: Path) -> bool:
    """Whether the folder says that it is a package; whether it is a sound one, `open_package` tells."""
    return can_exist(folder) and (folder / MANIFEST).is_file()


def open_package(folder: Path) -> Package:
    """Checks every file of a package against its hash; the model is not loaded.

    Raises:
        ArtifactError: The folder is no package, or of another version; a file is missing, changed, additional, or no
            plain file; a name leaves the folder; or the weights' archive holds anything but weights of our models.
    """
    found = _names_in(folder)
    manifest = _read_manifest(folder)
    for name in manifest.files:
        if not _stays_inside(name):
            raise ArtifactError(f"{folder / MANIFEST}: the name {name!r} leaves the folder. Refused")
    _check_names(folder, found - {MANIFEST}, "the folder")
    _check_names(folder, set(manifest.files), MANIFEST)
    for name, digest in manifest.files.items():
        if (actual := _hash(folder / name)) != digest:
            raise ArtifactError(
                f"{folder / name}: was changed: its SHA-256 is {actual}, and {MANIFEST} says {digest}. Get the package "
                "again from where it came"
            )
    serving = read_serving(folder)
    _check_serving(folder, manifest, serving)
    description = read_json(folder / MODEL / "model.json")
    check_archive(folder / WEIGHTS, task=manifest.task, description=description)
    return Package(folder=folder, manifest=manifest, serving=serving, hash=sha256_file(folder / MANIFEST))


def _names_in(folder: Path) -> set[str]:
    """All files below the folder, by their names in it.

    Raises:
        ArtifactError: One is a link, a pipe or another special file, or the folder is not there.
    """
    if not is_package(folder):
        raise ArtifactError(f"{folder}: no model package: there is no {MANIFEST} in it")
    names = set()
    for parent, folders, files in os.walk(folder):  # a linked folder is listed and not entered
        for name in (*folders, *files):
            path = Path(parent) / name
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                kind = "a link" if stat.S_ISLNK(mode) else "no plain file"
                raise ArtifactError(f"{path}: is {kind}; a package holds plain files only. Refused")
            if stat.S_ISREG(mode):
                names.add(path.relative_to(folder).as_posix())
    return names


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ArtifactError(
            f"{path}: {where}: {first['msg']}. It was damaged, or another version of elman wrote it; this one reads "
            "packages of version 1"
        ) from None


def _hash(path: Path) -> str:
    try:
        return sha256_file(path)
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror}") from None


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not (path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name)


def _check_names(folder: Path, names: Set[str], where: str) -> None:
    more, missing = sorted(names - set(FILES)), sorted(set(FILES) - names)
    if more:
        raise ArtifactError(
            f"{folder}: {where} has {', '.join(more)}, which belongs to no package: weights are in {WEIGHTS}, and "
            "nothing is read from an .h5 file or a pickle. Refused"
        )
    if missing:
        raise ArtifactError(f"{folder}: {where} lacks {', '.join(missing)}: the package is not whole")


def _check_serving(folder: Path, manifest: Manifest, serving: Serving) -> None:
    """Raises ArtifactError where the files are sound each, but of different models."""
    if serving.tokenizer.path != TOKENIZER:
        raise ArtifactError(
            f"{folder / SERVING}: names the tokenizer {serving.tokenizer.path!r}; a package has its own in {TOKENIZER}/"
        )
    told = (manifest.task, manifest.cell, [manifest.seed], manifest.files[f"{TOKENIZER}/tokenizer.model"])
    found = (serving.task, serving.cell, list(serving.valid_loss), serving.tokenizer.sha256)
    if told != found:
        raise ArtifactError(f"{folder}: {MANIFEST} is of {told}, {SERVING} of {found} (task, cell, seed, tokenizer)")
