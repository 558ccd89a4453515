"""`elman rollback`: the champion before becomes the champion again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from elman.retraining.job import TOOLS, now, settle_names, told
from elman.retraining.lock import alone
from elman.retraining.night import Night, Options, Tools
from elman.retraining.outcome import Outcome, ended
from elman.retraining.reports import write_report
from elman.tracking.liveness import raising_on_signals
from elman.tracking.registry import CHAMPION, PREVIOUS


def rollback(
    root: Path,
    *,
    tools: Tools = TOOLS,
    clock: Callable[[], datetime] = now,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Moves the aliases under the lock, writes the decision down, and reports; errors come back as an outcome.

    Args:
        root: The checkout.
        tools: What to work with.
        clock: The time, in UTC.
        say: Gets progress, a line at a time.
    """
    night = Night(root=root.resolve(), options=Options(), tools=tools, clock=clock, say=say)
    try:
        with raising_on_signals():
            settle_names(night)
            night.step = "lock"
            with alone(night.places.lock, wait_seconds=60.0 * night.config.wait_minutes):
                outcome = _under_lock(night)
                path = write_report(night.places.reports, outcome, at=clock())
                return replace(outcome, facts={**outcome.facts, "report": str(path)})
    except BaseException as error:
        return told(error, night)


def _under_lock(night: Night) -> Outcome:
    night.begin("rollback")
    registry = night.tools.registry(night.root, night.places.name)
    champion, previous = registry.version(CHAMPION), registry.version(PREVIOUS)
    numbers = {"champion": champion and champion.number, "restored": previous and previous.number}
    night.facts |= numbers
    message = f"version {numbers['restored']} is the champion again, version {numbers['champion']} was"
    tags = {"result": "rolled_back", "reasons": message, **numbers}
    with night.tools.decide(night.root, night.places.name, title="rolled_back", tags=tags, params={}):
        registry.rollback()
    return ended("rolled_back", message, night.facts)
