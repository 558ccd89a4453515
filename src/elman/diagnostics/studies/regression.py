"""The studies `adding` and `reset`: which cells learn to keep a number, and which to let go of it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import keras
import numpy as np
import tensorflow as tf

from elman.diagnostics.studies.cells import count_parameters, make_layer
from elman.diagnostics.studies.recorder import Recorder, SeedRun
from elman.diagnostics.studies.sequence_tasks import Batch, adding_batch, reset_batch
from elman.diagnostics.studies.sweep import VERSION, sweep
from elman.diagnostics.studies.updates import run_updates
from elman.errors import ConfigError
from elman.seeding import derive_seed, generator

CELLS = ("simple_rnn", "lstm", "gru", "lstm_1997", "lstm_input_open", "lstm_output_open", "lstm_forget_bias_0")
SOLVED = 0.01  # mean squared error
LONG = 3  # times as long as in training
_FRESH = 2000  # sequences of an evaluation
_SIMPLE_RNN_RATE = 0.1  # times the learning rate of the gated cells, at which a simple network on T = 100 goes astray


class _Draw(Protocol):
    def __call__(self, generator: np.random.Generator, /, *, batch_size: int, length: int) -> Batch: ...


TASKS: Mapping[str, _Draw] = {"adding": adding_batch, "reset": reset_batch}


@dataclass(frozen=True, kw_only=True)
class RegressionSettings:
    """How `study_regression` trains.

    Attributes:
        length: T of training.
        steps: Updates.
        units: U.
        batch_size: B.
        learning_rate: Of the gated cells; a simple network takes a tenth.
        checks: How often a curve is measured.
    """

    length: int = 100
    steps: int = 2000
    units: int = 32
    batch_size: int = 16
    learning_rate: float = 0.02
    checks: int = 20


def study_regression(
    task: str,
    settings: RegressionSettings,
    *,
    cells: Sequence[str] = CELLS,
    seeds: Sequence[int],
    recorder: Recorder,
    report: Callable[[str], None],
) -> dict[str, Any]:
    """Trains each cell with each seed on fresh sequences, and measures it on others.

    Args:
        task: "adding" or "reset".
        settings: How to train.
        cells: Names of `VARIANTS`.
        seeds: Each names initial weights and training sequences. All are measured on the same sequences.
        recorder: Opens a run a cell and one a seed.
        report: Takes a line of progress.

    Returns:
        Settings, the baseline that always predicts the mean, and for each cell the mean squared error at the length of
        training (`mse`) and at `LONG` times that (`mse_long`): mean, minimum, maximum and each seed, with its curve.
    """
    if settings.length < 2 or settings.steps < settings.checks:
        raise ConfigError(
            f"length must be at least 2 and steps at least {settings.checks}; got {settings.length}, {settings.steps}"
        )
    start = time.perf_counter()
    measured = {
        "mse": _fresh(task, settings.length, "test"),
        "mse_long": _fresh(task, LONG * settings.length, "long"),
    }
    rows = sweep(
        task,
        lambda cell, seed, run: _train_seed(task, cell, seed, run, settings=settings, measured=measured),
        cells=cells,
        seeds=seeds,
        settings=asdict(settings),
        recorder=recorder,
        report=report,
    )
    return {
        "version": VERSION,
        "study": task,
        "settings": {**asdict(settings), "long_length": LONG * settings.length, "solved": SOLVED},
        "baseline": {"title": "predicts the mean", "measures": _mean_baseline(task, settings, measured)},
        "rows": rows,
        "seconds": round(time.perf_counter() - start, 1),
    }


def _fresh(task: str, length: int, purpose: str) -> Batch:
    """Sequences that no training sees: their stream has a seed and a name of its own."""
    return TASKS[task](generator(0, task, purpose), batch_size=_FRESH, length=length)


def _mean_baseline(task: str, settings: RegressionSettings, measured: Mapping[str, Batch]) -> dict[str, float]:
    """The error of the mean answer of training sequences."""
    mean = _fresh(task, settings.length, "baseline").targets.mean()
    return {name: float(np.mean((batch.targets - mean) ** 2)) for name, batch in measured.items()}


def _train_seed(
    task: str, cell: str, seed: int, run: SeedRun, *, settings: RegressionSettings, measured: Mapping[str, Batch]
) -> dict[str, Any]:
    layer = make_layer(cell, units=settings.units, seed=seed)
    layer.build((None, None, 2))
    head = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seed=derive_seed(seed, "head")))
    head.build((None, None, settings.units))
    variables = [*layer.trainable_variables, *head.trainable_variables]

    def answers(inputs: Any, *, count: int, training: bool) -> Any:
        outputs, *_ = layer(inputs, training=training)  # (B, T, U)
        return head(outputs[:, -count:])[..., 0]  # (B, S)

    def loss(inputs: Any, targets: Any) -> Any:
        return tf.reduce_mean(tf.square(answers(inputs, count=targets.shape[1], training=True) - targets))

    def error(batch: Batch) -> float:
        found = answers(tf.constant(batch.inputs), count=batch.targets.shape[1], training=False)
        return float(np.mean((np.asarray(found) - batch.targets) ** 2))

    numbers = generator(seed, task, "training")
    valid = _fresh(task, settings.length, "valid")
    curve = run_updates(
        loss,
        variables,
        lambda: TASKS[task](numbers, batch_size=settings.batch_size, length=settings.length),
        steps=settings.steps,
        learning_rate=settings.learning_rate * (_SIMPLE_RNN_RATE if cell == "simple_rnn" else 1.0),
        checks=settings.checks,
        check=lambda: error(valid),
    )
    for step, value in curve:
        run.log_epoch(step, {"valid_mse": value})
    return {
        "parameters": count_parameters(cell, layer) + head.count_params(),
        "measures": {name: error(batch) for name, batch in measured.items()},
        "curve": [[step, value] for step, value in curve],
        "solved_at": next((step for step, value in curve if value < SOLVED), None),
    }
