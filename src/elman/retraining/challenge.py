"""A challenger: trained in a clone, judged, registered, and promoted where it holds its own."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman.artifacts import read_json
from elman.data.tokenizer import Tokenizer
from elman.errors import ArtifactError
from elman.retraining.drifting import coverage
from elman.retraining.intake import Snapshot
from elman.retraining.judging import Judged, gate_metrics, judge
from elman.retraining.night import Night
from elman.retraining.outcome import Outcome, ended
from elman.retraining.screening import data_of
from elman.retraining.state import Pending, Trained, write_state
from elman.retraining.workspace import Workspace, clone, fill, same_settings, workspace_of
from elman.tracking.registry import CHAMPION, Registry, Version
from elman.tracking.store import store_uri


def promoted_before(night: Night, champion: Version | None) -> bool:
    """Whether the pending training's model is the champion: the run before ended between promotion and its report."""
    pending = night.state.pending
    if pending is None or champion is None or champion.number == pending.champion:
        return False
    tags = (champion.tags.get("elman.snapshot"), champion.tags.get("elman.commit"))
    return tags == (pending.snapshot, pending.commit)


def challenge(
    night: Night, snapshot: Snapshot, reasons: Mapping[str, Any], *, registry: Registry, champion: Version | None
) -> Outcome:
    """Trains and decides.

    Args:
        night: The run.
        snapshot: The input.
        reasons: Why it is trained.
        registry: Where the champion is, and the challenger goes.
        champion: The one that it is compared with; another one at the promotion is an error.

    Returns:
        promoted or not_promoted.
    """
    before = night.state.pending
    same = before is not None and (before.snapshot, before.commit) == (snapshot.hash, night.commit)
    attempts = before.attempts + 1 if before is not None and same else 1
    pending = Pending(
        snapshot=snapshot.hash,
        commit=night.commit,
        reasons=dict(reasons),
        champion=None if champion is None else champion.number,
        attempts=attempts,
    )
    night.state = night.state.model_copy(update={"pending": pending})
    write_state(night.places.state, night.state)
    workspace, champion_package = _train(night, snapshot, registry, champion)
    judged = judge(night, snapshot, workspace, champion, champion_package)
    return _carry_out(night, snapshot, judged, registry=registry, champion=champion)


def _train(
    night: Night, snapshot: Snapshot, registry: Registry, champion: Version | None
) -> tuple[Workspace, Path | None]:
    workspace = workspace_of(night.places.work, commit=night.commit, snapshot=snapshot.hash)
    night.begin("workspace", str(workspace.folder))
    clone(night.root, workspace, commit=night.commit)
    package = None
    if champion is not None:
        shutil.rmtree(workspace.folder / "champion", ignore_errors=True)
        package = registry.fetch(CHAMPION, workspace.folder / "champion")
    keep = _kept_tokenizer(night, snapshot, package, champion)
    fill(
        workspace,
        night.params,
        snapshot=snapshot,
        task=night.task,
        cell=night.cell,
        labels=night.places.labels,
        keep=keep,
    )
    target = f"evaluate@{night.task}-{night.cell}"
    night.facts["log"] = str(workspace.log)
    night.begin("pipeline", f"dvc repro {target}, log in {workspace.log}")
    night.tools.repro(workspace, target, store=store_uri(night.root))
    return workspace, package


def _kept_tokenizer(night: Night, snapshot: Snapshot, package: Path | None, champion: Version | None) -> Path | None:
    """The champion's tokenizer, unless params.yaml asks for another one or it does not know the new text any more."""
    if package is None or champion is None:
        return None
    folder = package / "tokenizer"
    if not same_settings(folder, night.params.tokenizer):
        night.note("the tokenizer is trained anew: its settings are others than the champion's")
        return None
    prepared = night.places.prepared
    reference = data_of(champion)
    known = coverage(Tokenizer.load(folder), prepared / snapshot.hash, prepared / reference if reference else None)
    night.facts["coverage"] = known
    if known < night.config.min_coverage:
        night.note(
            f"the tokenizer is trained anew: the champion's knows {known:.2%} of the new tokens, less than "
            f"retraining.min_coverage = {night.config.min_coverage:.2%}"
        )
        return None
    return folder


def _carry_out(
    night: Night, snapshot: Snapshot, judged: Judged, *, registry: Registry, champion: Version | None
) -> Outcome:
    """Registers, writes the decision down, and promotes as the last step; tried again, it does no step twice."""
    result = judged.result
    night.begin("register")
    number = _register(night, judged, registry)
    night.facts["challenger"] = number
    word = "promoted" if result.promote else "not_promoted"
    replaced = "there was none" if champion is None else f"it was version {champion.number}"
    message = (
        f"version {number} is the champion now ({replaced})" if result.promote else f"version {number} was not promoted"
    ) + f": {'; '.join(result.reasons)}"
    night.begin("promote" if result.promote else "decision")
    tags = {"result": word, "reasons": message, "version": number, **judged.tags}
    rule = night.config.model_dump(include={"rule", "margin", "confidence", "max_class_loss", "floor"})
    with night.tools.decide(night.root, night.places.name, title=f"{word} {number}", tags=tags, params=rule) as run:
        run.log_metrics(gate_metrics(result))
        run.log_text(json.dumps(night.facts, indent=2, default=str), "decision.json")
        if result.promote:
            registry.promote(number, expected=None if champion is None else champion.number)
    update: dict[str, Any] = {
        "trained": Trained(snapshot=snapshot.hash, commit=night.commit, at=night.clock()),
        "anchor": result.anchor and result.anchor.to_json(),
    }
    night.state = night.state.model_copy(update=update)
    return ended(word, message, night.facts)


def _register(night: Night, judged: Judged, registry: Registry) -> int:
    for version in registry.versions():
        if version.package_hash == judged.package.hash:
            return version.number  # of a run that was killed after this
    runs = read_json(judged.workspace.folder / "models" / night.task / night.cell / "run.json")["runs"]
    run_id = runs.get(str(judged.package.seed))
    if run_id is None:
        raise ArtifactError(f"{judged.workspace.folder}: run.json names no run of seed {judged.package.seed}")
    return registry.add(judged.workspace.package, run_id=run_id, tags=judged.tags)
