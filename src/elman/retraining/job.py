"""`elman retrain`: one run under one lock, from the input to a decision, with an end that can be told from outside."""

import shutil
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from elman.config import read_params
from elman.errors import ConfigError, ElmanError, TrackingError
from elman.retraining.deciding import decide_night, look_ahead, record
from elman.retraining.lock import alone
from elman.retraining.night import Night, Options, Tools
from elman.retraining.outcome import SUCCESSES, Outcome, outcome_of
from elman.retraining.pipeline import repro
from elman.retraining.places import Places
from elman.retraining.reports import write_report
from elman.retraining.retention import clean
from elman.retraining.scoring import score
from elman.retraining.state import read_state, write_state
from elman.retraining.workspace import committed
from elman.tracking.decisions import decision_run, forget_training, registry_is_there
from elman.tracking.git import git_state
from elman.tracking.liveness import raising_on_signals
from elman.tracking.registry import Registry, registered_name
from elman.tracking.tracker import Tracker, experiment_name

_RESUMABLE = ("interrupted", "unreachable")  # ends after which the training is gone on with


def open_store(root: Path, experiment: str) -> None:
    """Opens the store once: runs of processes that are gone are ended, and what cannot be reached is found out now."""
    Tracker.open(root=root, experiment=experiment).close()


TOOLS = Tools(open_store, registry_is_there, Registry.open, repro, score, decision_run, forget_training)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def retrain(
    root: Path,
    options: Options,
    *,
    tools: Tools = TOOLS,
    clock: Callable[[], datetime] = now,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Runs the job; whatever goes wrong comes back as an outcome, and a signal to end too.

    Args:
        root: The checkout.
        options: What is asked for.
        tools: What to work with.
        clock: The time, in UTC.
        say: Gets progress, a line at a time.
    """
    night = Night(root=root.resolve(), options=options, tools=tools, clock=clock, say=say)
    try:
        with raising_on_signals():
            _settle(night)
            if options.dry_run:
                return look_ahead(night)
            night.step = "lock"
            with alone(night.places.lock, wait_seconds=60.0 * night.config.wait_minutes):
                return _under_lock(night)
    except BaseException as error:
        return told(error, night)


def settle_names(night: Night) -> None:
    """Reads what is committed: params, task, cell and where everything is.

    Raises:
        ConfigError: There is no commit, or params.yaml is wrong.
    """
    night.params = read_params(committed(night.root, "params.yaml"), source="params.yaml (as committed)")
    tasks = night.params.dataset.tasks
    night.task = night.config.task or tasks[0]
    if night.task not in tasks:
        raise ConfigError(f"retraining.task: {night.task} is not one of dataset.tasks {list(tasks)}")
    night.cell = night.config.cell or night.params.experiment.cells[0]
    night.places = Places(root=night.root, name=registered_name(night.params.dataset.name, night.task))
    night.facts |= {"name": night.places.name, "task": night.task, "cell": night.cell}


def _settle(night: Night) -> None:
    settle_names(night)
    git = git_state(night.root)
    assert git.commit is not None, "a file of the commit was read"
    night.commit = git.commit
    night.facts |= {"commit": git.commit, "dry_run": night.options.dry_run}
    if git.dirty:
        night.note("the working copy has changes that are not committed; they were not used")


def told(error: BaseException, night: Night) -> Outcome:
    """The outcome of an error; one that nobody foresaw is shown with its traceback."""
    if not isinstance(error, ElmanError | SystemExit | KeyboardInterrupt):
        with suppress(OSError):
            traceback.print_exception(error, file=sys.stderr)
    return outcome_of(error, step=night.step, facts=night.facts)


def _under_lock(night: Night) -> Outcome:
    night.state, damaged = read_state(night.places.state)  # before all else: the end of the run writes it again
    night.note(damaged)
    registry: Registry | None = None
    try:
        night.begin("tracking")
        night.tools.open_store(night.root, experiment_name(night.params.dataset.name, night.task))
        registry = night.tools.registry(night.root, night.places.name)
        outcome = decide_night(night, registry)
    except BaseException as error:
        outcome = told(error, night)
    if outcome.result == "bad_data":
        with suppress(TrackingError):  # it is in the report in any case
            record(night, outcome)
    return _close(night, outcome, registry)


def _close(night: Night, outcome: Outcome, registry: Registry | None) -> Outcome:
    """State, retention and report. What cannot be kept makes a success a failure: the next run would not know of it."""
    night.step = "report"
    at = night.clock()
    try:
        update: dict[str, object] = {"last_success": at} if outcome.result in SUCCESSES else {}
        if outcome.result not in _RESUMABLE:
            update["pending"] = None
        night.state = night.state.model_copy(update=update)
        if outcome.exit_code < 128 and registry is not None:
            clean(night, registry)
        shutil.rmtree(night.places.base / "scratch", ignore_errors=True)
        path = write_report(night.places.reports, outcome, at=at)
        write_state(night.places.state, night.state)
        return replace(outcome, facts={**outcome.facts, "report": str(path)})
    except Exception as error:
        failed = told(error, night)
        night.say(f"after {outcome.result} ({outcome.message}): {failed.message}")
        if outcome.result not in SUCCESSES:
            return outcome
        return replace(failed, message=f"{outcome.result}: {outcome.message}; but then: {failed.message}")
