"""What the gate says of a challenger: scored beside the champion, now, by the same code, on the frozen test set."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elman.artifacts import read_json, read_table
from elman.baselines.unigram import unigram_log_probabilities
from elman.data.sequences import document_counts, document_sums, read_encoded
from elman.data.token_counts import count_tokens
from elman.packages.package import Package, open_package
from elman.retraining.document_scores import DocumentScores
from elman.retraining.frozen import Frozen, open_frozen
from elman.retraining.gate import decide
from elman.retraining.gate_result import Anchor, GateResult
from elman.retraining.intake import Snapshot
from elman.retraining.night import Night
from elman.retraining.scoring import Packing, Scoring, class_names_of, read_scores
from elman.retraining.screening import train_hash
from elman.retraining.seed_spread import seed_spread
from elman.retraining.workspace import Workspace
from elman.tracking.registry import Version


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A challenger and what the gate says of it.

    Attributes:
        workspace: Where it was trained.
        package: Its package.
        result: The decision.
        tags: What its version is registered with.
    """

    workspace: Workspace
    package: Package
    result: GateResult
    tags: Mapping[str, str]


def judge(
    night: Night, snapshot: Snapshot, workspace: Workspace, champion: Version | None, champion_package: Path | None
) -> Judged:
    """Packs the model of a workspace, scores it and the champion on the frozen test set, and asks the gate.

    Args:
        night: The run.
        snapshot: The input that it was trained on.
        workspace: Where it was trained.
        champion: The version that it is compared with; None where there is none.
        champion_package: Its package.
    """
    night.begin("contest", "challenger and champion on the frozen test set")
    frozen = open_frozen(night.places.frozen)
    out = workspace.folder / "contest"
    packages = {"challenger": workspace.package}
    if champion_package is not None:
        packages["champion"] = champion_package
    scorings = {
        name: Scoring(package=str(package), documents=str(frozen.path), out=str(out / f"{name}.parquet"))
        for name, package in packages.items()
    }
    night.tools.score(out, list(scorings.values()), packing=_packing(night, snapshot, workspace), step="contest")
    package = open_package(workspace.package)
    tables = [Path(scoring.out) for scoring in scorings.values()]
    names = class_names_of(*tables, first=package.serving.labels or ()) if night.task == "classifier" else []
    scores = dict(zip(scorings, (read_scores(table, names) for table in tables), strict=True))
    night.begin("gate")
    own_train = train_hash(night.places.prepared / snapshot.hash)
    result = decide(
        scores["challenger"],
        scores.get("champion"),
        night.config,
        class_names=names,
        new_data=champion is None or champion.tags.get("elman.train") not in (None, own_train),
        anchor=_anchor(night),
        seed_spread=seed_spread(workspace.folder / "reports", task=night.task, cell=night.cell),
        baseline=_unigram(night, workspace, frozen) if champion is None else None,
    )
    night.facts["gate"] = result.to_json()
    night.say(result.text())
    value = result.challenger_value
    tags = {
        "elman.snapshot": snapshot.hash,
        "elman.commit": night.commit,
        "elman.train": own_train,
        "elman.frozen": frozen.sha256,
        "elman.measure": result.measure,
        "elman.value": "none" if value is None else f"{value:.6g}",
        "elman.compared_with": "none" if champion is None else str(champion.number),
    }
    return Judged(workspace=workspace, package=package, result=result, tags=tags)


def _packing(night: Night, snapshot: Snapshot, workspace: Workspace) -> Packing:
    params = night.params.model_dump(mode="json", include={"dataset", "prepare", "tokenizer", "compute", night.task})
    params["cell"] = night.params.for_cell(night.task, night.cell).model_dump(mode="json")
    evaluated = workspace.folder / "reports" / night.task / "cells" / night.cell / "summary.json"
    return Packing(
        cell_folder=str(workspace.folder / "models" / night.task / night.cell),
        out=str(workspace.package),
        params=params,
        metrics=read_json(evaluated) if evaluated.is_file() else {},
        provenance={
            "commit": night.commit,
            "dataset": night.params.dataset.name,
            "input": snapshot.hash,
            "train": train_hash(night.places.prepared / snapshot.hash),
        },
    )


def _anchor(night: Night) -> Anchor | None:
    return None if night.state.anchor is None else Anchor.from_json(night.state.anchor)


def _unigram(night: Night, workspace: Workspace, frozen: Frozen) -> DocumentScores | None:
    """The unigram model of this training on the frozen documents; None for a classifier, or where they are others."""
    encoded, test = workspace.folder / "data" / "encoded", workspace.folder / "data" / "prepared" / "test.parquet"
    if night.task != "language_model" or not (encoded / "test.parquet").is_file():
        return None
    if not read_table(frozen.path, columns=["text"]).equals(read_table(test, columns=["text"])):
        return None
    train = count_tokens(encoded / "train.parquet", read_json(encoded / "summary.json")["vocab_size"])
    documents = read_encoded(encoded / "test.parquet")
    nats = -unigram_log_probabilities(train.tokens)[documents.token_ids]
    return DocumentScores(
        ids=documents.ids,
        nll_nats=document_sums(nats, documents),
        num_bytes=document_counts(documents)["num_bytes"].astype(np.int64),
    )


def gate_metrics(result: GateResult) -> dict[str, float | None]:
    """What the decision's run records in numbers."""
    return {
        f"gate/{name}": getattr(result, name)
        for name in ("challenger_value", "champion_value", "difference", "low", "high")
    }
