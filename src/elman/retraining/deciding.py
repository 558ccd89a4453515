"""What is to be done with the input of a night, and what a run would do now."""

import shutil
import tempfile
from pathlib import Path

from elman.retraining.challenge import challenge, promoted_before
from elman.retraining.intake import Snapshot
from elman.retraining.lock import holder
from elman.retraining.night import Night
from elman.retraining.outcome import Outcome, ended
from elman.retraining.screening import Screened, accept, pending_input, reason, screen, take_input
from elman.retraining.state import Trained, read_state
from elman.tracking.registry import CHAMPION, Registry


def decide_night(night: Night, registry: Registry) -> Outcome:
    """From the input to the end of a challenge."""
    night.scratch = night.places.base / "scratch"
    shutil.rmtree(night.scratch, ignore_errors=True)
    champion = registry.version(CHAMPION)
    night.facts["champion"] = champion and champion.number
    night.begin("intake", night.params.dataset.path)
    if promoted_before(night, champion):
        return _promoted_before(night)
    snapshot = pending_input(night)
    if snapshot is not None and night.state.pending is not None:
        night.facts["input"] = snapshot.hash
        night.note(f"goes on with the training of the input {snapshot.hash}, which was interrupted")
        return challenge(night, snapshot, night.state.pending.reasons, registry=registry, champion=champion)
    if champion is None and not registry.versions():
        shutil.rmtree(night.places.frozen, ignore_errors=True)  # no score rests on it: settings may still change
    snapshot = take_input(night, night.places.inputs)
    night.facts["input"] = snapshot.hash
    if done := _done_before(night, snapshot):
        return record(night, ended("nothing_to_do", done, night.facts))
    screened = accept(night, screen(night, snapshot, night.scratch / "prepared"))
    found = reason(night, screened, registry=registry, champion=champion)
    if found is None:
        return record(night, ended("nothing_to_do", _no_reason(night), night.facts))
    return challenge(night, snapshot, found.to_json(), registry=registry, champion=champion)


def look_ahead(night: Night) -> Outcome:
    """What a run would do now; everything is written into a folder that goes away."""
    busy = holder(night.places.lock)
    if busy:
        night.note(f"a run would have to wait: the lock is held by {busy}")
    night.begin("tracking")
    there = night.tools.registry_is_there(night.root, night.places.name)
    registry = night.tools.registry(night.root, night.places.name) if there else None
    if night.places.state.is_file():
        night.state, damaged = read_state(night.places.state, mend=False)
        night.note(damaged)
    champion = registry.version(CHAMPION) if registry else None
    night.facts["champion"] = champion and champion.number
    with tempfile.TemporaryDirectory(prefix="elman-retrain-") as name:
        night.scratch = Path(name)
        night.begin("intake", night.params.dataset.path)
        snapshot = pending_input(night)
        if snapshot is not None:
            message = f"would go on with the training of the input {snapshot.hash}, which was interrupted"
            return ended("would_train", message, night.facts)
        snapshot = take_input(night, night.scratch / "inputs")
        night.facts["input"] = snapshot.hash
        if done := _done_before(night, snapshot):
            return ended("nothing_to_do", done, night.facts)
        screened: Screened = screen(night, snapshot, night.scratch / "prepared")
        found = reason(night, screened, registry=registry, champion=champion)
    if found is None:
        return ended("nothing_to_do", _no_reason(night), night.facts)
    return ended("would_train", f"would train {night.task} {night.cell}: {found.text}", night.facts)


def _done_before(night: Night, snapshot: Snapshot) -> str:
    """Why there is no use in looking at this input again; empty where there is."""
    trained = night.state.trained
    if night.options.force or trained is None or (trained.snapshot, trained.commit) != (snapshot.hash, night.commit):
        return ""
    return f"the input {snapshot.hash} was trained on before, with the same code and settings; nothing has changed"


def _no_reason(night: Night) -> str:
    policy = night.facts["policy"]
    age = "" if policy["age_days"] is None else f", the champion is {policy['age_days']:.1f} days old"
    drift = "no drift"
    if (night.facts["drift"] or {}).get("alarms"):
        drift = f"drift, which is a reason from {policy['min_drift_rows']:,} new rows on (retraining.min_drift_rows)"
    return f"no reason to train: {policy['new_rows']:,} new rows of {policy['min_new_rows']:,} needed{age}, {drift}"


def _promoted_before(night: Night) -> Outcome:
    """The run before was killed after its last step; this one writes its report."""
    pending = night.state.pending
    assert pending is not None
    trained = Trained(snapshot=pending.snapshot, commit=pending.commit, at=night.clock())
    night.state = night.state.model_copy(update={"trained": trained})
    night.facts |= {"input": pending.snapshot, "challenger": night.facts["champion"]}
    message = f"version {night.facts['champion']} is the champion: the run before ended after the promotion"
    return record(night, ended("promoted", message, night.facts))


def record(night: Night, outcome: Outcome) -> Outcome:
    """Writes a decision down in which nothing was trained."""
    night.begin("decision")
    tags = {"result": outcome.result, "reasons": outcome.message, "elman.snapshot": night.facts.get("input", "none")}
    tags["elman.commit"] = night.commit
    with night.tools.decide(night.root, night.places.name, title=outcome.result, tags=tags, params={}):
        pass
    return outcome
