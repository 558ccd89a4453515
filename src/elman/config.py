"""params.yaml as frozen, strict models; the only reader of YAML in the package.

A wrong value is refused before any stage works, with its dotted path and, for an unknown key, the nearest valid name.
YAML 1.2 rules hold (ruamel.yaml, the reader that DVC uses): `1e-3` is a number and `yes` is a string.
"""

import difflib
import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from elman.errors import ConfigError

Task = Literal["classifier", "language_model"]
Cell = Literal["simple_rnn", "lstm", "gru"]

Fraction = Annotated[float, Field(ge=0.0, lt=1.0, allow_inf_nan=False)]
WholeFraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
PositiveFloat = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NonNegativeFloat = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
PositiveInt = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(gt=0.0, le=1.0, allow_inf_nan=False)]


def _as_tuple(value: Any) -> Any:
    """YAML has lists only; the frozen models hold tuples."""
    return tuple(value) if isinstance(value, list) else value


def _as_seeds(value: Any) -> Any:
    """A number of seeds means 1 to that number; a list stays as it is."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise ValueError(f"experiment.seeds: a number of seeds must be 1 or more, but came {value}")
        return tuple(range(1, value + 1))
    return _as_tuple(value)


class Section(BaseModel):
    """Base of all sections: frozen, strict, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class DatasetConfig(Section):
    """Which text is used, how it is read and how it is split."""

    path: Annotated[str, Field(min_length=1)]
    tasks: Annotated[tuple[Task, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
    format: Literal["auto", "csv", "tsv", "jsonl", "parquet", "lines", "blocks", "folders"] = "auto"
    text_column: Annotated[str, Field(min_length=1)] = "text"
    label_column: Annotated[str, Field(min_length=1)] | None = None
    encoding: Annotated[str, Field(min_length=1)] = "utf-8"
    train: str | None = None
    valid: str | None = None
    test: str | None = None
    split_column: str | None = None
    valid_fraction: Fraction = 0.1
    test_fraction: Fraction = 0.1

    @property
    def name(self) -> str:
        """The last part of the path without its suffix: what reports and runs call the data set."""
        return Path(self.path).stem

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(set(self.tasks)) != len(self.tasks):
            raise ValueError(f"dataset.tasks names a task twice: {list(self.tasks)}")
        if "classifier" in self.tasks and self.label_column is None:
            raise ValueError(
                "dataset.tasks holds classifier but dataset.label_column is null; name the label column, "
                "or set dataset.tasks to [language_model]"
            )
        if self.split_column is not None and (self.train or self.valid or self.test):
            raise ValueError(
                "dataset.split_column and dataset.train/valid/test both give the splits; keep one of the two"
            )
        if self.train is None and (self.valid or self.test):
            raise ValueError("dataset.valid or dataset.test is given without dataset.train; name all the files")
        if self.valid_fraction + self.test_fraction >= 1.0:
            raise ValueError("dataset.valid_fraction + dataset.test_fraction leave nothing to train on")
        return self


class PrepareConfig(Section):
    """Cleaning: what is changed in a text, how much may be rejected, and how much of a split may stand in train."""

    unicode_form: Literal["none", "NFC", "NFD", "NFKC", "NFKD"] = "NFC"
    lowercase: bool = False
    whitespace: Literal["collapse", "keep"] = "collapse"
    repeats: Literal["remove", "keep"] = "remove"
    max_rejected_fraction: Fraction = 0.05
    max_leaked_fraction: WholeFraction = 0.025


class TokenizerConfig(Section):
    """The SentencePiece model; `keep` names the folder of a trained one that is taken as it is."""

    model: Literal["unigram", "bpe", "word", "char"] = "unigram"
    vocab_size: Annotated[int, Field(ge=8, le=1_000_000)] = 8000
    character_coverage: Annotated[float, Field(gt=0.9, le=1.0)] = 1.0
    byte_fallback: bool = False
    normalization: Literal["identity", "nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"] = "identity"
    max_training_megabytes: PositiveInt = 50
    seed: Annotated[int, Field(ge=0)] = 1
    keep: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.byte_fallback and self.model in ("word", "char"):
            raise ValueError(f"tokenizer.byte_fallback works with unigram and bpe, not with {self.model}")
        if self.byte_fallback and self.vocab_size < 300:
            raise ValueError(
                "tokenizer.byte_fallback needs 256 pieces of its own; set tokenizer.vocab_size to 300 or more"
            )
        return self


class ExperimentConfig(Section):
    """What is compared."""

    cells: Annotated[tuple[Cell, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_as_seeds), Field(min_length=1)]
    equal_parameters: Cell | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, values in (("cells", self.cells), ("seeds", self.seeds)):
            if len(set(values)) != len(values):
                raise ValueError(f"experiment.{name} names a value twice: {list(values)}")
        if self.equal_parameters is not None and self.equal_parameters not in self.cells:
            raise ValueError(
                f"experiment.equal_parameters: {self.equal_parameters} is not one of experiment.cells "
                f"{list(self.cells)}"
            )
        return self


class ComputeConfig(Section):
    """Where and how it is computed."""

    device: Literal["auto", "cpu", "gpu"] = "auto"
    threads: PositiveInt | None = None
    mixed_precision: bool = False
    deterministic: bool = False
    checkpoint_minutes: NonNegativeFloat = 5.0

    @property
    def machine(self) -> dict[str, Any]:
        """What changes results: all but how often training is saved; the arguments of `configure_device`."""
        return self.model_dump(mode="json", exclude={"checkpoint_minutes"})


class TrainingConfig(Section):
    """What both tasks' models and training share."""

    embedding_dim: PositiveInt
    units: PositiveInt
    num_layers: PositiveInt = 1
    embedding_dropout: Fraction = 0.0
    word_dropout: Fraction = 0.0
    dropout: Fraction = 0.0
    recurrent_dropout: Fraction = 0.0
    dropout_kind: Literal["locked", "step"] = "locked"
    forget_bias: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    initializer: Literal["glorot_uniform", "uniform"] = "glorot_uniform"
    kernel_initializer: Literal["glorot_uniform", "uniform", "uniform_by_units"] | None = None
    recurrent_initializer: Literal["orthogonal", "glorot_uniform", "uniform", "uniform_by_units"] = "orthogonal"
    uniform_range: PositiveFloat = 0.1

    optimizer: Literal["sgd", "adam", "adamw"] = "adam"
    learning_rate: PositiveFloat
    weight_decay: NonNegativeFloat = 0.0
    schedule: Literal["constant", "halve", "plateau", "cosine"] = "constant"
    halve_after_epoch: Annotated[int, Field(ge=0)] = 4
    plateau_factor: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.25
    plateau_patience: Annotated[int, Field(ge=0)] = 0
    epochs: PositiveInt
    batch_size: PositiveInt
    global_clipnorm: PositiveFloat | None = None
    clipnorm: PositiveFloat | None = None
    early_stopping_patience: PositiveInt | None = None
    max_skipped_steps: PositiveInt = 3

    @model_validator(mode="after")
    def _check_training(self) -> Self:
        if self.weight_decay > 0.0 and self.optimizer != "adamw":
            raise ValueError(f"weight_decay needs the optimizer adamw; {self.optimizer} would ignore it")
        if self.global_clipnorm is not None and self.clipnorm is not None:
            raise ValueError(
                "global_clipnorm (the norm of all gradients together) and clipnorm (each variable alone) exclude each "
                "other; keep one"
            )
        return self


class ClassifierConfig(TrainingConfig):
    """The classifier."""

    max_length: Annotated[int, Field(ge=2)] = 256
    bidirectional: bool = False
    pooling: Literal["last", "mean", "max", "all"] = "last"
    label_fraction: Share = 1.0
    pretrain: Literal["none", "language_model"] = "none"
    unfreeze: Literal["all", "gradual"] = "all"
    rate_decay: Share = 1.0

    @property
    def by_layer(self) -> bool:
        """Whether layers are trained at rates of their own, or from different epochs on."""
        return self.unfreeze == "gradual" or self.rate_decay < 1.0

    @model_validator(mode="after")
    def _check_classifier(self) -> Self:
        if self.by_layer and self.pretrain == "none":
            raise ValueError(
                "unfreeze and rate_decay keep what layers have learned from the language model; with pretrain none "
                "there is nothing to keep: set pretrain to language_model, or unfreeze to all and rate_decay to 1.0"
            )
        if self.by_layer and self.optimizer != "adam":
            raise ValueError(f"unfreeze: gradual and rate_decay need the optimizer adam, but came {self.optimizer}")
        groups = self.num_layers + 2
        if self.unfreeze == "gradual" and self.epochs < groups:
            raise ValueError(
                f"unfreeze: gradual frees one of {groups} layers an epoch, the head first and the embedding last; "
                f"epochs is {self.epochs} and must be {groups} or more"
            )
        return self


class LanguageModelConfig(TrainingConfig):
    """The language model."""

    tie_embeddings: bool = False
    window_length: PositiveInt = 35
    state: Literal["document", "stream"] = "document"

    @model_validator(mode="after")
    def _check_language_model(self) -> Self:
        if self.tie_embeddings and self.embedding_dim != self.units:
            raise ValueError(
                f"tie_embeddings needs embedding_dim equal to units; they are {self.embedding_dim} and {self.units}"
            )
        return self


class Tuning(Section):
    """What a search for one cell's settings took."""

    trials: PositiveInt
    seconds: NonNegativeFloat


class TuningConfig(Section):
    """What was tuned, by task and cell: a record for reports, which changes no training."""

    classifier: dict[Cell, Tuning] = {}
    language_model: dict[Cell, Tuning] = {}


class RetrainingConfig(Section):
    """What a scheduled retraining takes in, when it trains, and when a new model takes the champion's place."""

    task: Task | None = None
    cell: Cell | None = None

    settle_seconds: NonNegativeFloat = 5.0
    wait_minutes: NonNegativeFloat = 0.0
    max_row_drop: WholeFraction = 0.1
    max_duplicate_rise: WholeFraction = 0.1
    label_changes: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()

    min_new_rows: PositiveInt = 100
    max_age_days: PositiveFloat = 30.0
    drift_false_alarms: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.01
    min_coverage: WholeFraction = 0.98

    rule: Literal["superior", "non_inferior"] = "non_inferior"
    margin: NonNegativeFloat = 0.01
    confidence: Annotated[float, Field(gt=0.5, lt=1.0)] = 0.95
    max_class_loss: WholeFraction = 0.1
    floor: Annotated[float, Field(allow_inf_nan=False)] | None = None

    alarm_days: PositiveFloat = 2.0
    keep_nights: PositiveInt = 30


class Params(Section):
    """The whole of params.yaml."""

    dataset: DatasetConfig
    prepare: PrepareConfig
    tokenizer: TokenizerConfig
    experiment: ExperimentConfig
    compute: ComputeConfig
    classifier: ClassifierConfig
    language_model: LanguageModelConfig
    classifier_cells: dict[Cell, dict[str, Any]] = {}
    language_model_cells: dict[Cell, dict[str, Any]] = {}
    tuning: TuningConfig = TuningConfig()
    retraining: RetrainingConfig = RetrainingConfig()

    @model_validator(mode="after")
    def _check(self) -> Self:
        for task in ("classifier", "language_model"):
            for cell, changed in getattr(self, f"{task}_cells").items():
                self.for_cell(task, cell)
                if self.experiment.equal_parameters is not None and "units" in changed:
                    raise ValueError(
                        f"{task}_cells.{cell}.units: experiment.equal_parameters chooses the units; remove one of "
                        "the two"
                    )
        if "classifier" in self.dataset.tasks:
            self._check_same_for_all_cells()
        if "classifier" in self.dataset.tasks and self.classifier.pretrain == "language_model":
            self._check_pretraining()
        return self

    def _check_same_for_all_cells(self) -> None:
        """DVC knows of one value for the whole task, and cells are compared on the same labels."""
        for cell in self.classifier_cells:
            for key in ("pretrain", "label_fraction"):
                if getattr(self.for_cell("classifier", cell), key) != getattr(self.classifier, key):
                    raise ValueError(
                        f"classifier_cells.{cell}.{key}: is the same for all cells; set classifier.{key} instead"
                    )

    def _check_pretraining(self) -> None:
        """Weights can only be copied between layers of the same shape."""
        copies = "classifier.pretrain: language_model copies the weights"
        if "language_model" not in self.dataset.tasks:
            raise ValueError(
                "classifier.pretrain: language_model needs the language model that dataset.tasks leaves out; set "
                "dataset.tasks to [classifier, language_model], or classifier.pretrain to none"
            )
        if self.experiment.equal_parameters is not None:
            raise ValueError(
                f"experiment.equal_parameters chooses the units of each task by itself, and {copies}; set "
                "experiment.equal_parameters to null, or classifier.pretrain to none"
            )
        for cell in self.experiment.cells:
            one, other = self.for_cell("classifier", cell), self.for_cell("language_model", cell)
            if isinstance(one, ClassifierConfig) and one.bidirectional:
                raise ValueError(
                    f"{self._key('classifier', cell, 'bidirectional')} is true, and {copies} of a language model, "
                    "which reads in one direction; set it to false, or classifier.pretrain to none"
                )
            for name in ("embedding_dim", "units", "num_layers"):
                ours, theirs = getattr(one, name), getattr(other, name)
                if ours != theirs:
                    raise ValueError(
                        f"{self._key('classifier', cell, name)} is {ours} and "
                        f"{self._key('language_model', cell, name)} is {theirs}: {copies}, so that both must be equal"
                    )

    def _key(self, task: str, cell: str, name: str) -> str:
        """The key in params.yaml that a cell's value comes from."""
        changed = getattr(self, f"{task}_cells").get(cell, {})
        return f"{task}_cells.{cell}.{name}" if name in changed else f"{task}.{name}"

    def for_cell(self, task: str, cell: str) -> ClassifierConfig | LanguageModelConfig:
        """The task's section with what `<task>_cells.<cell>` changes in it."""
        section = self.classifier if task == "classifier" else self.language_model
        changed = getattr(self, f"{task}_cells").get(cell, {})
        if not changed:
            return section
        kind = type(section)
        for key in changed:
            if key not in kind.model_fields:
                raise ValueError(_unknown(f"{task}_cells.{cell}.{key}", key, kind))
        return kind.model_validate({**section.model_dump(), **changed})


def load_params(path: Path) -> Params:
    """Reads and checks `path`; nothing is read or written besides.

    Raises:
        ConfigError: The file is missing, is not YAML, or holds a wrong, unknown or missing key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; run the command in the folder that holds params.yaml") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    return read_params(text, source=str(path))


def read_params(text: str, *, source: str) -> Params:
    """Checks the text of a params file; `source` is named in errors.

    Raises:
        ConfigError: It is not YAML, or holds a wrong, unknown or missing key.
    """
    try:
        data = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ConfigError(f"{source}: not valid YAML: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{source}: expected sections such as dataset: and tokenizer:, found {type(data).__name__}")
    return parse_params(data, source=source)


def parse_params(data: dict[str, Any], *, source: str = "params") -> Params:
    """Checks a mapping with the sections of params.yaml; `source` is named in errors."""
    try:
        return Params.model_validate(data)
    except ValidationError as error:
        lines = [f"  {_explain(dict(item))}" for item in error.errors(include_url=False)]
        raise ConfigError("\n".join([f"{source}: {len(lines)} value(s) refused", *lines])) from None


def _explain(error: dict[str, Any]) -> str:
    path = [str(part) for part in error["loc"]]
    dotted = ".".join(path)
    if error["type"] == "extra_forbidden":
        return _unknown(dotted, path[-1], _section_of(path[:-1]))
    if error["type"] == "missing":
        return f"{dotted}: this key is missing"
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "value_error":
        return message if not dotted or message.startswith(dotted) else f"{dotted}: {message}"
    return f"{dotted}: {message}, but came {_shown(error.get('input'))}"


def _shown(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} (not a finite number)"
    return f"{value!r} ({type(value).__name__})"


def _section_of(path: list[str]) -> type[BaseModel]:
    section: Any = Params
    for part in path:
        section = get_args(section)[1] if get_origin(section) is dict else section.model_fields[part].annotation
    return section  # type: ignore[no-any-return]


def _unknown(dotted: str, key: str, section: type[BaseModel]) -> str:
    near = difflib.get_close_matches(key, list(section.model_fields), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"valid names: {', '.join(sorted(section.model_fields))}"
    return f"{dotted}: unknown key; {hint}"
