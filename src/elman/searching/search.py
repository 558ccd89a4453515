"""Tunes one cell's settings on validation: trial after trial, until their number or the time is reached."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import TrialState

from elman.config import ClassifierConfig, Params
from elman.data.sequences import EncodedDocuments, read_encoded
from elman.errors import ArtifactError, ConfigError, TrainingError
from elman.models.device import configure_device
from elman.models.parameter_count import count_parameters
from elman.searching import space, study
from elman.searching.recorder import SearchRecorder, SearchRun
from elman.searching.trial import Inputs, Outcome, config_with, run_trial
from elman.searching.words import trial_line
from elman.training.provenance import params_hash, provenance


class Budget(NamedTuple):
    """How long a search goes on.

    Attributes:
        trials: How many, all calls together.
        seconds: No trial of this call starts later than this after its start; None is no limit.
        seed: Of the sampler.
    """

    trials: int
    seconds: float | None = None
    seed: int = 1


class _Search(NamedTuple):
    """What all trials share."""

    params: Params
    task: str
    cell: str
    inputs: Inputs
    ranges: Mapping[str, BaseDistribution]
    config: space.Config
    splits: tuple[EncodedDocuments, EncodedDocuments]


def search_cell(
    *,
    params: Params,
    task: str,
    cell: str,
    inputs: Inputs,
    storage: Path,
    budget: Budget,
    recorder: SearchRecorder,
    tags: Mapping[str, str],
    report: Callable[[str], None],
) -> optuna.Study:
    """Searches, or goes on with a search of the same data and settings. The test split is not read.

    Args:
        params: All of params.yaml; the settings in force are the first trial.
        task: "classifier" or "language_model".
        cell: "simple_rnn", "lstm" or "gru".
        inputs: Where train and validation are.
        storage: The SQLite file of the study.
        budget: When to stop.
        recorder: Where runs are tracked.
        tags: What the runs are tagged with.
        report: Gets a line a trial.

    Returns:
        The study with all its trials.

    Raises:
        ArtifactError: There is no encoded data, or the storage is damaged.
        TrainingError: Another process works on the same study.
    """
    search = _open(params, task, cell, inputs)
    hashes = _hashes(search, budget)
    key = params_hash({name: hashes[name] for name in ("hash.data", "hash.tokenizer", "hash.params")})[:16]
    with study.alone(storage):
        found = study.open_study(storage, key)
        report(_opening(found, storage, budget))
        _enqueue(found, search)
        if len(study.done(found)) < budget.trials:
            device = configure_device(**params.compute.machine)
            logged = {**search.config.model_dump(), "dataset": params.dataset.name, "device": device.kind}
            with recorder.search_run(
                task=task, cell=cell, params=logged, tags={**tags, **hashes}, run_id=found.user_attrs.get("run_id")
            ) as run:
                found.set_user_attr("run_id", run.run_id)
                _run_trials(found, search, budget, run, report)
    return found


def _open(params: Params, task: str, cell: str, inputs: Inputs) -> _Search:
    files = [inputs.encoded / "train.parquet", inputs.encoded / "valid.parquet", inputs.tokenizer / "tokenizer.json"]
    for file in [*files, *([inputs.labels] if task == "classifier" else [])]:
        if not file.is_file():
            raise ArtifactError(f"{file}: no such file; run `dvc repro encode` first")
    config, _ = config_with(params, {}, task=task, cell=cell, inputs=inputs)
    if isinstance(config, ClassifierConfig) and config.pretrain != "none":
        raise ConfigError(
            "classifier.pretrain: a search trains from drawn weights, since other units would fit no language model; "
            "set it to none, search, and set it back"
        )
    ranges = space.search_space(config, tune_units=params.experiment.equal_parameters is None)
    train, valid = (read_encoded(file) for file in files[:2])
    return _Search(params, task, cell, inputs, ranges, config, (train, valid))


def _hashes(search: _Search, budget: Budget) -> dict[str, str]:
    params = search.params
    reference = params.experiment.equal_parameters
    settings = {
        "section": search.config.model_dump(mode="json"),
        "compute": params.compute.model_dump(mode="json", include={"mixed_precision"}),
        "equal_parameters": reference and params.for_cell(search.task, reference).model_dump(mode="json"),
        "seeds": [params.experiment.seeds[0], budget.seed],
        "space": space.VERSION,
    }
    data = [search.inputs.encoded / f"{split}.parquet" for split in ("train", "valid")]
    return provenance(data=data, tokenizer=search.inputs.tokenizer, params=settings)


def _opening(found: optuna.Study, storage: Path, budget: Budget) -> str:
    count = len(study.done(found))
    killed = len(found.get_trials(deepcopy=False, states=(TrialState.FAIL,)))
    if count or killed:
        lost = f"; killed, and not counted: {killed}" if killed else ""
        return f"{storage}: goes on after {count} of {budget.trials} trials{lost}"
    if study.studies_of_others(found, storage):
        return f"{storage}: data or settings are others than those of the last search: a new study"
    return f"{storage}: a new study of {budget.trials} trials; the first one has the settings in force"


def _enqueue(found: optuna.Study, search: _Search) -> None:
    """Puts the settings in force first, unless they were tried; a killed trial of them is tried again."""
    point = space.in_force(search.config, search.ranges)
    waiting = found.get_trials(deepcopy=False, states=(TrialState.WAITING,))
    if not waiting and all(trial.params != point for trial in study.done(found)):
        found.enqueue_trial(point)


def _run_trials(
    found: optuna.Study, search: _Search, budget: Budget, run: SearchRun, report: Callable[[str], None]
) -> None:
    started, times = time.perf_counter(), 0
    while (count := len(study.done(found))) < budget.trials:
        passed = time.perf_counter() - started
        if budget.seconds is not None and passed >= budget.seconds:
            report(f"the time is up after {count} of {budget.trials} trials; the same command goes on")
            return
        study.set_sampler(found, budget.seed)
        trial = found.ask(dict(search.ranges))
        try:
            outcome = _run_trial(trial, search, run)
        except BaseException:
            found.tell(trial, state=TrialState.FAIL, skip_if_finished=True)
            report(f"trial {trial.number} was stopped and does not count; the same command goes on")
            raise
        times += 1
        best = study.completed(found)
        passed = time.perf_counter() - started
        left = passed / times * (budget.trials - count - 1)
        left = left if budget.seconds is None else max(0.0, min(left, budget.seconds - passed))
        report(trial_line(found.trials[trial.number], outcome, of=budget.trials, place=count + 1, best=best, left=left))
        run.log_metrics({"valid/best_loss": best[0].value if best else None}, step=count + 1)


def _run_trial(trial: optuna.Trial, search: _Search, run: SearchRun) -> Outcome:
    """Trains, and tells the study how it ended."""
    settings = space.settings_of(trial.params, search.config)
    config, spec = config_with(search.params, settings, task=search.task, cell=search.cell, inputs=search.inputs)
    attributes: dict[str, Any] = {"settings": settings, "parameters": count_parameters(spec)}
    attributes["in_force"] = trial.params == space.in_force(search.config, search.ranges)
    logged = {**config.model_dump(), "parameters": attributes["parameters"]}
    with run.trial_run(number=trial.number, params=logged) as own:
        outcome = run_trial(trial, config, spec, search.splits, own)
        own.log_metrics({"valid/best_loss": outcome.loss})
        own.set_tags({"ended": "diverged" if outcome.reason else "pruned" if outcome.pruned else "completed"})
    attributes |= {"measures": dict(outcome.measures), "epochs": outcome.epochs, "seconds": outcome.seconds}
    for name, value in {**attributes, "reason": outcome.reason}.items():
        trial.set_user_attr(name, value)
    state = TrialState.PRUNED if outcome.pruned else TrialState.COMPLETE
    trial.study.tell(trial, None if outcome.pruned else outcome.loss, state=state)
    return outcome


def best_trials(found: optuna.Study, count: int = 5) -> list[dict[str, Any]]:
    """The best trials that trained to their end, as plain values.

    Raises:
        TrainingError: There is none.
    """
    trials = study.completed(found)[:count]
    if not trials:
        raise TrainingError(
            f"none of {len(study.done(found))} trials trained to its end; lower learning_rate in params.yaml, or allow "
            "more trials"
        )
    return [{"trial": trial.number, "valid_loss": trial.value, **trial.user_attrs} for trial in trials]


def cost(found: optuna.Study) -> dict[str, Any]:
    """How many trials there were, and the seconds that they took together."""
    trials = study.done(found)
    return {"trials": len(trials), "seconds": round(sum(trial.user_attrs["seconds"] for trial in trials), 1)}
