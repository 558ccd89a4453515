"""From the input to the decision whether to train: taken in, prepared, validated, held against the champion's data."""

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from elman.artifacts import read_json, sha256_file, write_json
from elman.data.prepare import prepare
from elman.data.reading.dataset import open_dataset
from elman.data.reading.raw_columns import raw_columns
from elman.errors import ArtifactError, DataError
from elman.retraining.drifting import measure_drift
from elman.retraining.facts import DataFacts, facts_of, new_rows
from elman.retraining.frozen import check_leaks, freeze, open_frozen
from elman.retraining.intake import Snapshot, open_snapshot, take
from elman.retraining.night import Night
from elman.retraining.policy import Reason, reason_to_train
from elman.retraining.state import MAX_ATTEMPTS, write_state
from elman.retraining.validation import problems
from elman.tracking.registry import Registry, Version

FACTS = "facts.json"
SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Screened:
    """Input that may be trained on.

    Attributes:
        snapshot: The input.
        prepared: Folder of its clean text.
        facts: What is known of it.
    """

    snapshot: Snapshot
    prepared: Path
    facts: DataFacts


def pending_input(night: Night) -> Snapshot | None:
    """The input of a training that was interrupted and can be gone on with."""
    pending = night.state.pending
    if pending is None:
        return None
    if pending.commit != night.commit:
        night.note("an interrupted training was of another commit; it begins anew")
    elif pending.attempts >= MAX_ATTEMPTS:
        night.note(f"an interrupted training was begun {pending.attempts} times; it begins anew with the input of now")
    else:
        try:
            return open_snapshot(night.places.inputs, pending.snapshot)
        except ArtifactError as error:
            night.note(f"an interrupted training cannot go on: {error}")
    return None


def take_input(night: Night, inputs: Path) -> Snapshot:
    """The input of now; relative paths are below the checkout."""
    dataset = night.params.dataset.model_copy(update={"path": str(night.root / night.params.dataset.path)})
    accepted = night.state.accepted
    fallback = None if accepted is None else partial(open_snapshot, night.places.inputs, accepted)
    snapshot = take(dataset, inputs, settle_seconds=night.config.settle_seconds, fallback=fallback)
    night.note(snapshot.note)
    return snapshot


def screen(night: Night, snapshot: Snapshot, out: Path) -> Screened:
    """Prepares the input as the pipeline will, and validates it.

    Args:
        night: The run.
        snapshot: The input.
        out: Folder for the clean text.

    Raises:
        DataError: The input cannot be used.
    """
    night.begin("prepare", f"{snapshot.num_bytes:,} bytes, input {snapshot.hash}")
    out.mkdir(parents=True, exist_ok=True)
    if night.places.labels.is_file():
        shutil.copyfile(night.places.labels, out / "labels.json")
    update = {"path": str(snapshot.path), "tasks": (night.task,)}
    dataset = night.params.dataset.model_copy(update=update)
    prepare(dataset=dataset, cleaning=night.params.prepare, out=out)
    columns = raw_columns(open_dataset(dataset))
    facts = facts_of(out, path=str(night.root / night.params.dataset.path), columns=columns)
    night.facts["rows"] = facts.rows
    night.begin("validate", f"{facts.rows:,} rows")
    found = problems(facts, _accepted_facts(night), night.config)
    night.facts["problems"] = found
    if found and not night.options.accept_data:
        raise DataError(
            "\n".join(found)
            + "\nMend the input; or, where it is right as it is, `elman retrain --accept-data` takes it once"
        )
    for problem in found:
        night.note(f"accepted by hand: {problem}")
    night.begin("frozen")
    if (night.places.frozen / "frozen.json").exists():
        cleaning = night.params.prepare
        allowed = cleaning.max_leaked_fraction if cleaning.repeats == "keep" else 0.0
        check_leaks(open_frozen(night.places.frozen), out, allowed=allowed)
    return Screened(snapshot=snapshot, prepared=out, facts=facts)


def accept(night: Night, screened: Screened) -> Screened:
    """Makes the input the one that was accepted last, and its test split the frozen one where there is none yet."""
    digest = screened.snapshot.hash
    write_json(screened.prepared / FACTS, screened.facts.to_json())
    target = night.places.prepared / digest
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.rename(night.scratch / "replaced")
    screened.prepared.rename(target)
    shutil.copyfile(target / "labels.json", night.places.labels)
    freeze(target / "test.parquet", night.places.frozen, snapshot=digest)
    night.state = night.state.model_copy(update={"accepted": digest})
    write_state(night.places.state, night.state)
    return Screened(snapshot=screened.snapshot, prepared=target, facts=screened.facts)


def reason(night: Night, screened: Screened, *, registry: Registry | None, champion: Version | None) -> Reason | None:
    """Why to train on this input now; None: there is no reason."""
    trained = night.state.trained
    since = _facts(night, trained.snapshot if trained else None) or _facts(night, data_of(champion))
    fresh = new_rows(screened.facts, since)
    age = age_days(night, champion)
    night.facts["policy"] = {
        "new_rows": fresh,
        "min_new_rows": night.config.min_new_rows,
        "min_drift_rows": night.config.drift_rows,
        "age_days": age,
        "max_age_days": night.config.max_age_days,
    }
    night.begin("drift")
    reference = data_of(champion)
    drift = None
    if champion is not None and registry is not None and reference and (night.places.prepared / reference).is_dir():
        drift = measure_drift(night, screened.prepared, night.places.prepared / reference, registry)
    night.facts["drift"] = drift and drift.to_json()
    night.begin("policy", f"{fresh:,} new rows")
    found = reason_to_train(
        night.config,
        forced=night.options.force,
        has_champion=champion is not None,
        new_rows=fresh,
        age_days=age,
        drift=drift,
    )
    night.facts["reasons"] = list(found.sentences) if found else []
    return found


def age_days(night: Night, champion: Version | None) -> float | None:
    """Days since the champion was made or, where that is later, since a challenger was trained and did not win."""
    if champion is None:
        return None
    trained = night.state.trained
    last = max(champion.created, trained.at) if trained else champion.created
    return (night.clock() - last).total_seconds() / SECONDS_A_DAY


def train_hash(prepared: Path) -> str:
    """Names a train split."""
    return sha256_file(prepared / "train.parquet")


def data_of(champion: Version | None) -> str | None:
    """The hash of the input that the champion was trained on."""
    return None if champion is None else champion.tags.get("elman.snapshot")


def _accepted_facts(night: Night) -> DataFacts | None:
    return _facts(night, night.state.accepted)


def _facts(night: Night, digest: str | None) -> DataFacts | None:
    path = night.places.prepared / (digest or "none") / FACTS
    return DataFacts.from_json(read_json(path)) if path.is_file() else None
