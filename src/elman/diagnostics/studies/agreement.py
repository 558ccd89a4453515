"""The study `agreement`: over how many nouns a language model still knows the number of the subject."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from elman.diagnostics.studies.agreement_model import AgreementModel
from elman.diagnostics.studies.agreement_sentences import (
    WORDS,
    Attractors,
    Sentences,
    agreement_sentences,
    last_noun_accuracy,
    majority_accuracy,
)
from elman.diagnostics.studies.recorder import Recorder, SeedRun
from elman.diagnostics.studies.sweep import VERSION, spread, sweep
from elman.diagnostics.studies.updates import run_updates
from elman.errors import ConfigError
from elman.seeding import generator

CELLS = ("simple_rnn", "lstm", "gru", "lstm_1997", "lstm_forget_bias_0")
NUMBERS: tuple[Attractors, ...] = get_args(Attractors)
_SIMPLE_RNN_RATE = 0.3  # times the learning rate of the gated cells

# (numbers, k) -> sentences
Tests = Mapping[tuple[Attractors, int], Sentences]


@dataclass(frozen=True, kw_only=True)
class AgreementSettings:
    """How `study_agreement` trains and tests.

    Attributes:
        trained_attractors: Training sentences have 0 to this many.
        tested_attractors: Test sentences have 0 to this many.
        test_sentences: How many for each number of attractors.
        steps: Updates.
        units: U.
        embedding_dim: D.
        batch_size: B; the sentences of a batch have the same number of attractors.
        learning_rate: Of the gated cells; a simple network takes three tenths.
        checks: How often a curve is measured.
    """

    trained_attractors: int = 5
    tested_attractors: int = 20
    test_sentences: int = 500
    steps: int = 1500
    units: int = 32
    embedding_dim: int = 16
    batch_size: int = 32
    learning_rate: float = 0.01
    checks: int = 10


def study_agreement(
    settings: AgreementSettings,
    *,
    cells: Sequence[str] = CELLS,
    seeds: Sequence[int],
    recorder: Recorder,
    report: Callable[[str], None],
) -> dict[str, Any]:
    """Trains language models on generated sentences, and asks each which number of the verb is likelier.

    A sentence counts as right where the probabilities of all verbs of the right number add up to more than those of the
    others (Linzen et al. 2016 compare one verb with its other form).

    Args:
        settings: How to train and test.
        cells: Names of `VARIANTS`.
        seeds: Each names initial weights and training sentences. All are tested on the same sentences.
        recorder: Opens a run a cell and one a seed.
        report: Takes a line of progress.

    Returns:
        For each way to draw the attractors' numbers, the accuracy at each number of attractors: of the baselines, and
        of each cell with mean, minimum, maximum and each seed.
    """
    if settings.steps < settings.checks or settings.trained_attractors < 0 or settings.tested_attractors < 0:
        raise ConfigError(f"agreement needs at least {settings.checks} steps and no negative number of attractors")
    start = time.perf_counter()
    distances = range(settings.tested_attractors + 1)
    tests = _test_sentences(settings)
    rows = sweep(
        "agreement",
        lambda cell, seed, run: _train_seed(cell, seed, run, settings=settings, tests=tests),
        cells=cells,
        seeds=seeds,
        settings=asdict(settings),
        recorder=recorder,
        report=report,
    )
    for row in rows:
        row["accuracy"] = {
            numbers: [spread([seed["accuracy"][numbers][k] for seed in row["seeds"]]) for k in distances]
            for numbers in NUMBERS
        }
    return {
        "version": VERSION,
        "study": "agreement",
        "settings": {**asdict(settings), "vocabulary": len(WORDS)},
        "baselines": [
            {
                "title": title,
                "accuracy": {numbers: [rule(tests[numbers, k].plural) for k in distances] for numbers in NUMBERS},
            }
            for title, rule in (("last noun", last_noun_accuracy), ("most of the nouns", majority_accuracy))
        ],
        "rows": rows,
        "seconds": round(time.perf_counter() - start, 1),
    }


def _test_sentences(settings: AgreementSettings) -> Tests:
    return {
        (numbers, k): agreement_sentences(
            generator(0, "agreement", numbers, k), count=settings.test_sentences, attractors=k, numbers=numbers
        )
        for numbers in NUMBERS
        for k in range(settings.tested_attractors + 1)
    }


def _train_seed(cell: str, seed: int, run: SeedRun, *, settings: AgreementSettings, tests: Tests) -> dict[str, Any]:
    model = AgreementModel(cell, units=settings.units, embedding_dim=settings.embedding_dim, seed=seed)
    numbers = generator(seed, "agreement", "training")

    def draw() -> tuple[npt.NDArray[np.int32]]:
        attractors = int(numbers.integers(0, settings.trained_attractors + 1))
        return (agreement_sentences(numbers, count=settings.batch_size, attractors=attractors).token_ids,)

    valid = agreement_sentences(
        generator(0, "agreement", "valid"), count=settings.test_sentences, attractors=settings.trained_attractors
    )
    curve = run_updates(
        model.loss,
        model.variables,
        draw,
        steps=settings.steps,
        learning_rate=settings.learning_rate * (_SIMPLE_RNN_RATE if cell == "simple_rnn" else 1.0),
        checks=settings.checks,
        check=lambda: model.accuracy(valid),
    )
    for step, value in curve:
        run.log_epoch(step, {"valid_accuracy": value})
    found: dict[str, list[float]] = {name: [] for name in NUMBERS}
    for (name, _), sentences in tests.items():
        found[name].append(model.accuracy(sentences))
    return {
        "parameters": model.parameters,
        "measures": {f"accuracy_{name}": float(np.mean(values)) for name, values in found.items()},
        "accuracy": found,
        "curve": [[step, value] for step, value in curve],
    }
