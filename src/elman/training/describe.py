"""What the train stage says of the models it leaves: how text is to be cleaned, encoded and read for them."""

import os
from collections.abc import Sequence
from pathlib import Path

from elman.artifacts import read_json
from elman.config import ClassifierConfig, LanguageModelConfig, Params
from elman.models.serving import Cleaning, Serving, TokenizerFile


def describe_models(
    out: Path,
    *,
    params: Params,
    config: ClassifierConfig | LanguageModelConfig,
    cell: str,
    tokenizer: Path,
    labels: Path,
    seeds: Sequence[int],
) -> Serving:
    """What serving.json of a cell holds.

    Args:
        out: models/<task>/<cell>, with the histories of the seeds.
        params: All of params.yaml.
        config: What the cell was trained with.
        cell: "simple_rnn", "lstm" or "gru".
        tokenizer: Folder with tokenizer.json.
        labels: labels.json.
        seeds: Those that were trained.
    """
    own: dict[str, object]
    if isinstance(config, ClassifierConfig):
        own = {"task": "classifier", "labels": tuple(read_json(labels)["labels"]), "max_length": config.max_length}
    else:
        own = {"task": "language_model", "state": config.state, "window_length": config.window_length}
    return Serving.model_validate(
        {
            **own,
            "cell": cell,
            "cleaning": Cleaning(**params.prepare.model_dump(include=set(Cleaning.model_fields))),
            "tokenizer": TokenizerFile(
                path=Path(os.path.relpath(tokenizer, out)).as_posix(),
                sha256=read_json(tokenizer / "tokenizer.json")["sha256"],
            ),
            "mixed_precision": params.compute.mixed_precision,
            "valid_loss": {seed: _lowest_loss(out / f"seed-{seed}") for seed in seeds},
        }
    )


def _lowest_loss(folder: Path) -> float:
    return min(float(row["valid/loss"]) for row in read_json(folder / "history.json"))
