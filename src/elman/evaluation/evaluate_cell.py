"""The evaluate stage: all seeds of one task and cell, on validation and test."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from elman.artifacts import read_json, write_csv, write_json
from elman.config import ClassifierConfig, LanguageModelConfig, Params
from elman.data.sequences import EncodedDocuments, read_encoded
from elman.evaluation.classifier import evaluate_classifier
from elman.evaluation.classifier_tables import write_classifier_tables
from elman.evaluation.inputs import Inputs
from elman.evaluation.kneser_ney_tokens import read_kneser_ney_tokens
from elman.evaluation.language_model import evaluate_language_model
from elman.evaluation.language_model_tables import write_language_model_tables
from elman.evaluation.over_seeds import over_seeds
from elman.evaluation.scores import Evaluation, write_scores
from elman.metrics.perplexity import MEASURES
from elman.models.classifier import Classifier
from elman.models.device import configure_device
from elman.models.store import load_model


class ResumedRun(Protocol):
    """A run of training, open again."""

    def log_measures(self, split: str, measures: Mapping[str, Mapping[str, Any]]) -> None:
        """Means with intervals."""

    def log_artifact(self, path: Path, folder: str | None = None) -> None:
        """Keeps a copy of a file or folder."""


class RunFinder(Protocol):
    """Opens the runs of training again."""

    def has_run(self, run_id: str) -> bool:
        """Whether the store holds the run."""

    def resume(self, run_id: str) -> AbstractContextManager[ResumedRun]:
        """The run, open inside the block."""


def evaluate_cell(
    *,
    params: Params,
    task: str,
    cell: str,
    inputs: Inputs,
    runs: RunFinder,
    draw: Callable[[Path], None] | None = None,
) -> dict[str, Any]:
    """Scores each seed's model and writes measures, per-document scores, tables and curves.

    A language model's folder also gets its mixtures with the Kneser-Ney baseline, and where it is surprised.

    Args:
        params: All of params.yaml.
        task: "classifier" or "language_model".
        cell: "simple_rnn", "lstm" or "gru".
        inputs: Where to read and write.
        runs: Finds the runs that training made; measures are added to them.
        draw: Draws figures from the tables in the folder that it is given, into that folder.

    Returns:
        What metrics.json holds.

    Raises:
        ArtifactError: A file of an earlier stage is missing, damaged, or does not fit the others.
        MetricError: A model's scores are not finite, or a split is empty.
    """
    configure_device(**params.compute.machine)
    summary = read_json(inputs.models / "summary.json")
    seeds: list[int] = summary["seeds"]
    split = {name: read_encoded(inputs.encoded / f"{name}.parquet") for name in ("valid", "test")}
    kneser_ney = {}
    if task == "language_model":  # before the models are scored, which takes a while
        kneser_ney = read_kneser_ney_tokens(inputs.baselines / "kneser_ney" / "tokens.parquet", split)
    found: dict[str, list[Evaluation]] = {"valid": [], "test": []}
    for seed in seeds:
        model = load_model(inputs.models / f"seed-{seed}")
        for name, evaluations in found.items():
            evaluations.append(_evaluate(model, split[name], params, task, cell))
    metrics = _metrics(task, cell, summary, found)
    metrics["units"] = model.spec.units
    if (tuning := getattr(params.tuning, task).get(cell)) is not None:
        metrics["tuning"] = tuning.model_dump()
    write_json(inputs.out / "metrics.json", metrics)
    write_scores(inputs.out / "scores.parquet", seeds, found["test"], split["test"])
    mixture = None
    if task == "classifier":
        write_classifier_tables(inputs, found)
    else:
        vocab_size = model.spec.vocab_size
        mixture = write_language_model_tables(
            inputs, cell=cell, seeds=seeds, found=found, splits=split, kneser_ney=kneser_ney, vocab_size=vocab_size
        )
    _write_curves(inputs.out, inputs.models, seeds)
    costs = {name: metrics[name] for name in ("parameters", "train_seconds")}
    ids = read_json(inputs.models / "run.json")
    write_json(inputs.out / "run.json", ids)  # so that a figure leads to its run
    write_json(inputs.out / "summary.json", {**mean_measures(metrics), **costs})
    if draw is not None:
        draw(inputs.out)
    _record(runs, ids, metrics, inputs.out, mixture=mixture)
    return metrics


def mean_measures(metrics: Mapping[str, Any]) -> dict[str, float | None]:
    """The means over seeds of what was measured, without the counts that the measures rest on."""
    measured = {name: value for name, value in metrics["measures"].items() if not name.startswith("num_")}
    measured.pop("perplexity_overflow", None)
    return {name: value["mean"] for name, value in measured.items()}


def _metrics(
    task: str, cell: str, summary: Mapping[str, Any], found: Mapping[str, Sequence[Evaluation]]
) -> dict[str, Any]:
    trained = list(summary["per_seed"].values())
    return {
        "version": 1,
        "task": task,
        "cell": cell,
        "split": "test",
        "seeds": summary["seeds"],
        "parameters": summary["parameters"],
        "train_seconds": float(np.mean([row["train_seconds"] for row in trained])),
        "tokens_per_second": float(np.mean([row["tokens_per_second"] for row in trained])),
        "epochs": float(np.mean([row["epochs"] for row in trained])),
        "train_tokens": float(np.mean([row["train_tokens"] for row in trained])),
        "measures": over_seeds([one.measures for one in found["test"]]),
        "valid_measures": over_seeds([one.measures for one in found["valid"]]),
    }


def _evaluate(model: Any, split: EncodedDocuments, params: Params, task: str, cell: str) -> Evaluation:
    config = params.for_cell(task, cell)
    if isinstance(model, Classifier):
        assert isinstance(config, ClassifierConfig)
        return evaluate_classifier(model, split, max_length=config.max_length)
    assert isinstance(config, LanguageModelConfig)
    return evaluate_language_model(model, split, state=config.state, window_length=config.window_length)


def _write_curves(out: Path, models: Path, seeds: Sequence[int]) -> None:
    """history.csv: one row a seed and epoch; curves.csv: means over the seeds that reached the epoch (`dvc plots`)."""
    histories = {seed: read_json(models / f"seed-{seed}" / "history.json") for seed in seeds}
    names = sorted({name for rows in histories.values() for row in rows for name in row})
    header = [name.replace("/", "_") for name in names]
    rows = [
        [seed, epoch, *(row.get(name, "") for name in names)]  # what is not known is left empty
        for seed, history in histories.items()
        for epoch, row in enumerate(history, start=1)
    ]
    write_csv(out / "history.csv", ["seed", "epoch", *header], rows)
    means = []
    for epoch in sorted({row[1] for row in rows}):
        columns = zip(*(row[2:] for row in rows if row[1] == epoch), strict=True)
        known = [[value for value in column if value != ""] for column in columns]
        means.append([epoch, *(float(np.mean(values)) if values else "" for values in known)])
    write_csv(out / "curves.csv", ["epoch", *header], means)


def _record(
    runs: RunFinder,
    ids: Mapping[str, Any],
    metrics: Mapping[str, Any],
    out: Path,
    *,
    mixture: Mapping[str, Any] | None = None,
) -> None:
    """Adds the measures to the runs of training, where the store has them: it records, and decides nothing."""
    if not runs.has_run(ids["parent_run_id"]):
        print(f"the tracking store has no run {ids['parent_run_id']}: these measures stand in {out} only")  # noqa: T201
        return
    splits = {"test": metrics["measures"], "valid": metrics["valid_measures"]}
    for index, seed in enumerate(metrics["seeds"]):
        if str(seed) not in ids["runs"]:  # trained where another store recorded it
            continue
        with runs.resume(ids["runs"][str(seed)]) as run:
            own = {name: {"mean": measure["per_seed"][index]} for name, measure in splits["test"].items()}
            run.log_measures("test", own)
    with runs.resume(ids["parent_run_id"]) as parent:
        for name, measures in splits.items():
            parent.log_measures(name, measures)
        if mixture is not None:
            named = {"weight": mixture["weight"], **{name: mixture["measures"][name] for name in MEASURES}}
            parent.log_measures("test", {f"mixture_{name}": values for name, values in named.items()})
        parent.log_artifact(out, "evaluation")
