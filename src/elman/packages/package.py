"""A model package on disk: what is in it, and what is refused. Nothing here loads TensorFlow.

```
package.json                 what the package is; SHA-256 of every other file; stored predictions
serving.json                 labels, cleaning, lengths: as beside the models of a cell, with the tokenizer's path in here
model/model.json             the architecture in our own words
model/model.keras            the weights
tokenizer/tokenizer.model    the SentencePiece model
tokenizer/tokenizer.json     its description
```

A package has these files and no others, so that there is no place for a pickle, an .h5 or code.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from elman.artifacts import sha256_file
from elman.config import Section, Task
from elman.errors import ArtifactError
from elman.models.serving import NAME as SERVING
from elman.models.serving import Serving, read_serving
from elman.packages.archive import check_archive

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
            own = probe.probabilities if self.task == "classifier" else probe.nll_nats and probe.num_tokens
            if own is None:
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
        """"classifier" or "language_model"."""
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
    return (folder / MANIFEST).is_file()


def open_package(folder: Path) -> Package:
    """Checks every file of a package against its hash; the model is not loaded.

    Raises:
        ArtifactError: The folder is no package, or of another version; a file is missing, changed, additional, or no
            plain file; a name leaves the folder; or the weights' archive holds anything but weights of our models.
    """
    raise NotImplementedError
