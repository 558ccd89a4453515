"""One trial: a training with other settings, ended early where it falls behind."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import keras
import optuna

from elman.config import Params
from elman.data.sequences import EncodedDocuments
from elman.errors import TrainingError
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.searching.recorder import TrialRun
from elman.searching.space import Config
from elman.seeding import derive_seed
from elman.training.architecture import cell_config, make_spec
from elman.training.loop import fit
from elman.training.recorder import EpochRecord
from elman.training.train_cell import make_objective


class Inputs(NamedTuple):
    """What a search reads.

    Attributes:
        encoded: Folder with train.parquet and valid.parquet; the test split is not read.
        tokenizer: Folder with tokenizer.json.
        labels: labels.json.
    """

    encoded: Path
    tokenizer: Path
    labels: Path


class Outcome(NamedTuple):
    """How a trial ended.

    Attributes:
        loss: The lowest validation loss of an epoch, nats; None when it diverged before the first epoch's end.
        measures: All validation measures of that epoch.
        epochs: How many were trained.
        pruned: Whether it was ended early.
        reason: Why it diverged, else empty.
        seconds: What it took.
    """

    loss: float | None
    measures: Mapping[str, float]
    epochs: int
    pruned: bool
    reason: str
    seconds: float


class EndBehind(keras.callbacks.Callback):
    """Ends a training whose best validation loss lies above the median of earlier trials at the same epoch.

    Args:
        trial: Gets each epoch's validation loss.
        epochs: How many there will be; after the last one there is nothing to save.
    """

    def __init__(self, trial: optuna.Trial, epochs: int) -> None:
        super().__init__()
        self._trial, self._epochs = trial, epochs
        self.history: list[dict[str, float]] = []
        self.ended = False

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Counts epochs from 1, as people do."""
        self.history.append(dict(logs))
        self._trial.report(logs["valid/loss"], step=epoch + 1)
        if epoch + 1 < self._epochs and self._trial.should_prune():
            self.ended = self.model.stop_training = True


def config_with(
    params: Params, settings: Mapping[str, Any], *, task: str, cell: str, inputs: Inputs
) -> tuple[Config, ModelSpec]:
    """What a cell is trained with when `<task>_cells.<cell>` holds these settings too."""
    entries = getattr(params, f"{task}_cells")
    changed = params.model_copy(update={f"{task}_cells": {**entries, cell: {**entries.get(cell, {}), **settings}}})
    sources: dict[str, Any] = {"task": task, "cell": cell, "tokenizer": inputs.tokenizer, "labels": inputs.labels}
    config = cell_config(changed, **sources)
    return config, make_spec(config, **sources, seed=params.experiment.seeds[0])


def run_trial(
    trial: optuna.Trial,
    config: Config,
    spec: ModelSpec,
    splits: tuple[EncodedDocuments, EncodedDocuments],
    run: TrialRun,
) -> Outcome:
    """Trains once.

    Args:
        trial: Decides whether it goes on, epoch by epoch.
        config: How it is trained.
        spec: What is trained; its seed names everything random.
        splits: Train and validation.
        run: Where its curves go.
    """
    started = time.perf_counter()
    keras.backend.clear_session(free_memory=True)
    keras.utils.set_random_seed(derive_seed(spec.seed, "process"))
    objective = make_objective(build_model(spec), config, *splits, seed=spec.seed)
    watcher, reason = EndBehind(trial, config.epochs), ""
    try:
        fit(objective, config, callbacks=[EpochRecord(run), watcher])
    except TrainingError as error:
        reason = str(error)
    best = min(watcher.history, key=lambda logs: logs["valid/loss"], default={})
    return Outcome(
        loss=best.get("valid/loss"),
        measures={name: value for name, value in best.items() if name.startswith("valid/")},
        epochs=len(watcher.history),
        pruned=watcher.ended or bool(reason),
        reason=reason,
        seconds=time.perf_counter() - started,
    )
