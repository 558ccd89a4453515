"""All sections together, and what they ask of each other."""

from typing import Any, Self

from pydantic import Field, model_validator

from elman.config.data import DatasetConfig, PrepareConfig, TokenizerConfig
from elman.config.experiment import ComputeConfig, ExperimentConfig, TuningConfig
from elman.config.retraining import RetrainingConfig
from elman.config.section import Cell, Section, unknown_key
from elman.config.training import ClassifierConfig, LanguageModelConfig


class Params(Section):
    """The whole of params.yaml."""

    dataset: DatasetConfig
    prepare: PrepareConfig
    tokenizer: TokenizerConfig
    experiment: ExperimentConfig
    compute: ComputeConfig
    classifier: ClassifierConfig
    language_model: LanguageModelConfig
    classifier_cells: dict[Cell, dict[str, Any]] = Field(default={})
    language_model_cells: dict[Cell, dict[str, Any]] = Field(default={})
    tuning: TuningConfig = Field(default_factory=TuningConfig)
    retraining: RetrainingConfig = Field(default_factory=RetrainingConfig)

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
                raise ValueError(unknown_key(f"{task}_cells.{cell}.{key}", key, kind))
        return kind.model_validate({**section.model_dump(), **changed})
