"""A search as it stands on disk: one SQLite file a data set, task and cell, which a second call goes on with."""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial, TrialState

from elman.errors import ArtifactError, TrainingError
from elman.seeding import derive_seed

HASH = "hash"

_RANDOM_TRIALS = 6  # before the sampler goes by what was found; Optuna's own 10 are half of a small search
_TRIALS_BEFORE_PRUNING = 4
_EPOCHS_BEFORE_PRUNING = 2
_DONE = (TrialState.COMPLETE, TrialState.PRUNED)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keeps a second process away from the study: only then is a trial that reads "running" a killed one.

    Raises:
        TrainingError: Another process searches.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TrainingError(f"{path}: another `elman search` works on it; wait for its end, or end it") from None
        yield


def open_study(path: Path, key: str) -> optuna.Study:
    """Opens the study of these data and settings, or makes it; trials that a killed process left are marked failed.

    Args:
        path: The SQLite file.
        key: A hash of all that a trial's value depends on; another one is another study in the same file.

    Raises:
        ArtifactError: The file is damaged, or of another version of Optuna.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=_TRIALS_BEFORE_PRUNING, n_warmup_steps=_EPOCHS_BEFORE_PRUNING)
    try:
        if path.exists():
            with closing(sqlite3.connect(path)) as file:
                file.execute("pragma quick_check").fetchall()
        study = optuna.create_study(
            storage=f"sqlite:///{path.resolve()}", study_name=key, load_if_exists=True, pruner=pruner
        )
        study.set_user_attr(HASH, key)
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            study.tell(trial.number, state=TrialState.FAIL)
    except Exception as error:  # SQLite, SQLAlchemy and Optuna have no common base, and each speaks for the file
        raise ArtifactError(
            f"{path}: cannot be used as the storage of a search ({type(error).__name__}: {error}); move it away, and "
            "the search starts anew"
        ) from error
    return study


def studies_of_others(study: optuna.Study, path: Path) -> bool:
    """Whether the file holds studies of other data or settings."""
    names = optuna.get_all_study_names(f"sqlite:///{path.resolve()}")
    return any(name != study.study_name for name in names)


def done(study: optuna.Study) -> list[FrozenTrial]:
    """Trials that count: those that ended, early or not. A killed one does not."""
    return study.get_trials(deepcopy=False, states=_DONE)


def completed(study: optuna.Study) -> list[FrozenTrial]:
    """Trials that trained to their end, the best first."""
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return sorted(trials, key=lambda trial: (trial.value, trial.number))


def set_sampler(study: optuna.Study, seed: int) -> None:
    """A sampler whose draw is named by the seed and the number of trials so far.

    With one sampler for a whole process, a search that was gone on with would draw its first points once more.

    References:
        bergstra2011algorithms
    """
    study.sampler = optuna.samplers.TPESampler(
        n_startup_trials=_RANDOM_TRIALS, seed=derive_seed(seed, "search", len(done(study)))
    )
