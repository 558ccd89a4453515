"""serving.json: what the models of a cell need beside their weights to read text as they were trained to.

It stands beside the seeds' folders and not inside them: a seed that is kept keeps its files, whereas cleaning and
labels can change without changing what it was trained from.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from elman.artifacts import write_json
from elman.config import Section
from elman.errors import ArtifactError

NAME = "serving.json"


class Cleaning(Section):
    """What is changed in a text; the arguments of `clean_text`."""

    unicode_form: Literal["none", "NFC", "NFD", "NFKC", "NFKD"]
    lowercase: bool
    whitespace: Literal["collapse", "keep"]


class TokenizerFile(Section):
    """The tokenizer that the models were trained with.

    Attributes:
        path: Its folder, relative to the folder of serving.json.
        sha256: Of its model file.
    """

    path: str
    sha256: Annotated[str, Field(min_length=64, max_length=64)]


class Serving(Section):
    """All that text passes through before and after a model.

    Attributes:
        task: Which model it is.
        cell: Its recurrent layer.
        cleaning: As the prepare stage cleaned the text.
        tokenizer: Which one.
        mixed_precision: Whether products are computed in bfloat16.
        labels: Classifier: the names of the classes, by number.
        max_length: Classifier: tokens of a document that are read, eos included.
        state: Language model: where the state is zero, at each document's start or at the first one's only.
        window_length: Language model: steps at a time.
        valid_loss: By seed, the lowest validation loss in nats; what the model has the weights of.
    """

    version: Literal[1] = 1
    task: Literal["classifier", "language_model"]
    cell: str
    cleaning: Cleaning
    tokenizer: TokenizerFile
    mixed_precision: bool
    labels: tuple[str, ...] | None = None
    max_length: Annotated[int, Field(ge=2)] | None = None
    state: Literal["document", "stream"] | None = None
    window_length: Annotated[int, Field(gt=0)] | None = None
    valid_loss: Annotated[dict[int, float], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        own = {"classifier": ("labels", "max_length"), "language_model": ("state", "window_length")}[self.task]
        if missing := [name for name in own if getattr(self, name) is None]:
            raise ValueError(f"{missing[0]} is needed for a {self.task}")
        return self

    @property
    def best_seed(self) -> int:
        """The seed with the lowest validation loss, the lower number where two are equal."""
        return min(self.valid_loss, key=lambda seed: (self.valid_loss[seed], seed))


def write_serving(folder: Path, serving: Serving) -> None:
    """Writes serving.json into models/<task>/<cell>."""
    write_json(folder / NAME, serving.model_dump(mode="json", exclude_none=True))


def read_serving(folder: Path) -> Serving:
    """What a cell's folder says of its models.

    Raises:
        ArtifactError: The file is missing, damaged or of another version.
    """
    path = folder / NAME
    try:
        return Serving.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise ArtifactError(
            f"{path}: no such file: training has not ended, or an earlier version trained; run `dvc repro`"
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ArtifactError(f"{path}: {where}: {first['msg']}; run `dvc repro` to write it again") from None
