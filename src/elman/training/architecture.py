"""What the train stage builds: settings, what only the data knows, and units that make cells comparable."""

import dataclasses
from pathlib import Path

from elman.artifacts import read_json
from elman.config import ClassifierConfig, LanguageModelConfig, Params
from elman.errors import TrainingError
from elman.models.parameter_count import count_parameters, match_parameters
from elman.models.spec import ModelSpec


def cell_config(
    params: Params, *, task: str, cell: str, tokenizer: Path, labels: Path
) -> ClassifierConfig | LanguageModelConfig:
    """The settings that a cell is trained with.

    With `experiment.equal_parameters`, every other cell gets the units with which its model has as many parameters as
    that cell's, and a language model with tied weights an embedding that is as wide.

    Args:
        params: All of params.yaml.
        task: "classifier" or "language_model".
        cell: "simple_rnn", "lstm" or "gru".
        tokenizer: Folder with tokenizer.json.
        labels: labels.json.

    Raises:
        ConfigError: No number of units comes within 2 % of that cell's parameters.
    """
    config = params.for_cell(task, cell)
    reference = params.experiment.equal_parameters
    if reference is None or reference == cell:
        return config
    other = make_spec(params.for_cell(task, reference), task=task, cell=reference, tokenizer=tokenizer, labels=labels)
    own = make_spec(config, task=task, cell=cell, tokenizer=tokenizer, labels=labels)
    changed = {"units": match_parameters(own, count_parameters(other))}
    if own.tie_embeddings:
        changed["embedding_dim"] = changed["units"]
    return type(config).model_validate({**config.model_dump(), **changed})


def make_spec(
    config: ClassifierConfig | LanguageModelConfig,
    *,
    task: str,
    cell: str,
    tokenizer: Path,
    labels: Path,
    seed: int = 0,
) -> ModelSpec:
    """The architecture: settings, and what only the data knows (vocabulary size, number of classes).

    Raises:
        TrainingError: The data has fewer than two labels.
    """
    shared = {field.name for field in dataclasses.fields(ModelSpec)} & set(type(config).model_fields)
    num_classes = 0
    if task == "classifier":
        num_classes = len(read_json(labels)["labels"])
        if num_classes < 2:
            raise TrainingError(f"{labels}: {num_classes} labels; a classifier needs 2 or more")
    return ModelSpec(
        task=task,  # type: ignore[arg-type]
        cell=cell,  # type: ignore[arg-type]
        vocab_size=int(read_json(tokenizer / "tokenizer.json")["vocab_size"]),
        num_classes=num_classes,
        seed=seed,
        **{name: getattr(config, name) for name in shared},
    )
