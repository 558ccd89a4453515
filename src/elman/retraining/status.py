"""`elman status`: the champion, the last runs, and what comes next; read only."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from elman.retraining.job import TOOLS, now, settle_names
from elman.retraining.lock import holder
from elman.retraining.night import Night, Options, Tools
from elman.retraining.policy import next_reason
from elman.retraining.reports import read_reports
from elman.retraining.screening import SECONDS_A_DAY, age_days
from elman.retraining.state import read_state
from elman.tracking.registry import CHAMPION, PREVIOUS, Version

_RUNS = 7
_WIDTH = 100  # characters of a message that a line of the table shows


def status(root: Path, *, tools: Tools = TOOLS, clock: Callable[[], datetime] = now) -> dict[str, Any]:
    """What there is to know, as plain values; `alarm` says why a person has to look, or is None.

    Args:
        root: The checkout.
        tools: What to work with.
        clock: The time, in UTC.

    Raises:
        ConfigError: params.yaml as committed is wrong.
        TrackingError: The registry cannot be reached.
    """
    night = Night(root=root.resolve(), options=Options(), tools=tools, clock=clock, say=lambda _: None)
    settle_names(night)
    night.state, damaged = read_state(night.places.state, mend=False)
    night.note(damaged)
    champion = previous = None
    if tools.registry_is_there(night.root, night.places.name):
        registry = tools.registry(night.root, night.places.name)
        champion, previous = registry.version(CHAMPION), registry.version(PREVIOUS)
    runs = read_reports(night.places.reports, last=_RUNS)
    last = night.state.last_success
    return {
        "version": 1,
        **{name: night.facts[name] for name in ("name", "task", "cell")},
        "champion": _version(champion, clock()),
        "previous": _version(previous, clock()),
        "running": holder(night.places.lock),
        "interrupted": night.state.pending and night.state.pending.snapshot,
        "runs": [{name: run.get(name) for name in ("at", "result", "exit_code", "stage", "message")} for run in runs],
        "next": _next(night, runs, champion),
        "last_success": last and last.isoformat(timespec="seconds"),
        "alarm": _alarm(last, clock(), night.config.alarm_days),
        "notes": night.facts["notes"],
    }


def lines(found: Mapping[str, Any]) -> list[str]:
    """The status for a person."""
    shown = [f"{found['name']}: {found['task']} {found['cell']}"]
    for role in ("champion", "previous"):
        version = found[role]
        shown.append(f"{role}: " + ("none" if version is None else _words(version)))
    if found["running"]:
        shown.append(f"running: {found['running']}")
    shown += [f"note: {note}" for note in found["notes"]]
    shown.append("last runs:" if found["runs"] else "last runs: none")
    for run in found["runs"]:
        stage = f" ({run['stage']})" if run["stage"] else ""
        shown.append(f"  {run['at']}  {run['exit_code']:>3}  {run['result']}{stage}: {_short(run['message'])}")
    shown += [f"next: {found['next']}", f"last success: {found['last_success'] or 'never'}"]
    return [*shown, f"ALARM: {found['alarm']}"] if found["alarm"] else shown


def _short(message: str) -> str:
    first = message.splitlines()[0]
    return first if len(first) <= _WIDTH else f"{first[:_WIDTH]}..."


def _words(version: Mapping[str, Any]) -> str:
    return f"version {version['number']}, {version['age_days']:.1f} days old, {version['measure']} {version['value']}"


def _version(version: Version | None, at: datetime) -> dict[str, Any] | None:
    if version is None:
        return None
    tags = version.tags
    return {
        "number": version.number,
        "age_days": (at - version.created).total_seconds() / SECONDS_A_DAY,
        "measure": tags.get("elman.measure"),
        "value": tags.get("elman.value"),
        "input": tags.get("elman.snapshot"),
        "commit": tags.get("elman.commit"),
        "run_id": version.run_id,
    }


def _next(night: Night, runs: list[dict[str, Any]], champion: Version | None) -> str:
    if night.state.pending is not None:
        return f"goes on with the training of the input {night.state.pending.snapshot}, which was interrupted"
    fresh = next((run["policy"]["new_rows"] for run in runs if run.get("policy")), 0)
    if runs and runs[0].get("result") in ("promoted", "not_promoted"):
        fresh = 0  # they were trained on
    age = age_days(night, champion)
    return next_reason(night.config, has_champion=champion is not None, new_rows=fresh, age_days=age)


def _alarm(last: datetime | None, at: datetime, days: float) -> str | None:
    if last is None:
        return "no run has come to its end yet"
    age = (at - last).total_seconds() / SECONDS_A_DAY
    return f"the last success is {age:.1f} days old, more than retraining.alarm_days = {days:g}" if age > days else None
