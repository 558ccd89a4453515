"""The evaluate stage: all seeds of one task and cell, on validation and test."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from elman.artifacts import TableWriter, read_json, write_json, write_text
from elman.config import LanguageModelConfig, Params
from elman.data.sequences import EncodedDocuments, document_counts, read_encoded
from elman.evaluation.calibration import calibration
from elman.evaluation.classifier import ClassifierEvaluation, evaluate_classifier
from elman.evaluation.language_model import LanguageModelEvaluation, evaluate_language_model
from elman.evaluation.mistakes import most_confident_mistakes
from elman.metrics.classification import confusion_matrix, per_class
from elman.metrics.intervals import mean_and_interval
from elman.metrics.score_columns import CLASSIFIER_SCORES, LANGUAGE_MODEL_SCORES
from elman.models.classifier import Classifier
from elman.models.device import configure_device
from elman.models.store import load_model

Evaluation = ClassifierEvaluation | LanguageModelEvaluation


class Inputs(NamedTuple):
    """What the evaluate stage reads, and where it writes.

    Attributes:
        models: models/<task>/<cell>.
        encoded: Folder with valid.parquet and test.parquet.
        labels: labels.json.
        prepared: Folder with the prepared splits, for the texts of what is shown.
        out: The stage's output, reports/<task>/cells/<cell>.
    """

    models: Path
    encoded: Path
    labels: Path
    prepared: Path
    out: Path


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

    Args:
        params: All of params.yaml.
        task: "classifier" or "language_model".
        cell: "simple_rnn", "lstm" or "gru".
        inputs: Where to read and write.
        runs: Finds the runs that training made; measures are added to them.
        draw: Draws figures from the tables in the folder that it is given, into that folder.

    Returns:
        What metrics.json holds.
    """
    configure_device(**params.compute.model_dump())
    summary = read_json(inputs.models / "summary.json")
    seeds: list[int] = summary["seeds"]
    split = {name: read_encoded(inputs.encoded / f"{name}.parquet") for name in ("valid", "test")}
    found: dict[str, list[Evaluation]] = {"valid": [], "test": []}
    for seed in seeds:
        model = load_model(inputs.models / f"seed-{seed}")
        for name, evaluations in found.items():
            evaluations.append(_evaluate(model, split[name], params, task, cell))
    trained = list(summary["per_seed"].values())
    metrics = {
        "version": 1,
        "task": task,
        "cell": cell,
        "split": "test",
        "seeds": seeds,
        "parameters": summary["parameters"],
        "units": model.spec.units,
        "train_seconds": float(np.mean([row["train_seconds"] for row in trained])),
        "tokens_per_second": float(np.mean([row["tokens_per_second"] for row in trained])),
        "epochs": float(np.mean([row["epochs"] for row in trained])),
        "train_tokens": float(np.mean([row["train_tokens"] for row in trained])),
        "measures": _over_seeds(found["test"]),
        "valid_measures": _over_seeds(found["valid"]),
    }
    tuning = getattr(params.tuning, task).get(cell)
    if tuning is not None:
        metrics["tuning"] = tuning.model_dump()
    write_json(inputs.out / "metrics.json", metrics)
    _write_scores(inputs.out / "scores.parquet", seeds, found["test"], split["test"])
    if task == "classifier":
        _write_classifier_tables(inputs, found)
    _write_curves(inputs.out, inputs.models, seeds)
    costs = {name: metrics[name] for name in ("parameters", "train_seconds")}
    ids = read_json(inputs.models / "run.json")
    write_json(inputs.out / "run.json", ids)  # so that a figure leads to its run
    write_json(inputs.out / "summary.json", {**mean_measures(metrics), **costs})
    if draw is not None:
        draw(inputs.out)
    _record(runs, ids, metrics, inputs.out)
    return metrics


def mean_measures(metrics: Mapping[str, Any]) -> dict[str, float | None]:
    """The means over seeds of what was measured, without the counts that the measures rest on."""
    measured = {name: value for name, value in metrics["measures"].items() if not name.startswith("num_")}
    measured.pop("perplexity_overflow", None)
    return {name: value["mean"] for name, value in measured.items()}


def _evaluate(model: Any, split: EncodedDocuments, params: Params, task: str, cell: str) -> Evaluation:
    if isinstance(model, Classifier):
        return evaluate_classifier(model, split, max_length=params.classifier.max_length)
    config = params.for_cell(task, cell)
    assert isinstance(config, LanguageModelConfig)
    return evaluate_language_model(model, split, state=config.state, window_length=config.window_length)


def _over_seeds(evaluations: Sequence[Evaluation]) -> dict[str, dict[str, Any]]:
    """Mean and 95 % t interval over seeds of each measure; a measure that overflowed for any seed has no mean."""
    result: dict[str, dict[str, Any]] = {}
    for name in evaluations[0].measures:
        values = [evaluation.measures[name] for evaluation in evaluations]
        if any(value is None for value in values):
            result[name] = {"mean": None, "low": None, "high": None, "per_seed": values}
            continue
        interval = mean_and_interval([float(value) for value in values if value is not None])
        result[name] = {"mean": interval.mean, "low": interval.low, "high": interval.high, "per_seed": values}
    return result


def _write_scores(path: Path, seeds: Sequence[int], evaluations: Sequence[Evaluation], split: EncodedDocuments) -> None:
    schema = CLASSIFIER_SCORES if isinstance(evaluations[0], ClassifierEvaluation) else LANGUAGE_MODEL_SCORES
    with TableWriter(path, schema) as writer:
        for seed, evaluation in zip(seeds, evaluations, strict=True):
            if isinstance(evaluation, ClassifierEvaluation):
                scores = evaluation.scores
                columns: dict[str, Any] = {
                    "id": scores.ids,
                    "label": scores.labels,
                    "predicted": scores.predicted,
                    "probability": np.exp(scores.log_probabilities.max(axis=1)),
                    "nll_nats": scores.nll_nats,
                }
            else:
                columns = {
                    "id": np.arange(len(split)),
                    "nll_nats": evaluation.nll_nats,
                    **document_counts(split),
                }
            writer.write({"seed": np.full(len(columns["id"]), seed), **columns})


def _write_classifier_tables(inputs: Inputs, found: Mapping[str, Sequence[Evaluation]]) -> None:
    labels = read_json(inputs.labels)["labels"]
    scores = {
        name: [one.scores for one in evaluations if isinstance(one, ClassifierEvaluation)]
        for name, evaluations in found.items()
    }
    _write_classes(inputs.out, labels, found["test"])
    write_json(inputs.out / "calibration.json", calibration(scores["valid"], scores["test"]))
    mistakes = most_confident_mistakes(scores["test"], labels, inputs.prepared / "test.parquet")
    write_json(inputs.out / "mistakes.json", {"version": 1, "mistakes": mistakes})


def _write_classes(out: Path, labels: Sequence[str], evaluations: Sequence[Evaluation]) -> None:
    """per_class.json (means over seeds) and confusion.csv (one row a document and seed, for `dvc plots`)."""
    scores = [evaluation.scores for evaluation in evaluations if isinstance(evaluation, ClassifierEvaluation)]
    tables = [per_class(seed.labels, seed.predicted, len(labels)) for seed in scores]
    confusion = sum(confusion_matrix(seed.labels, seed.predicted, len(labels)) for seed in scores)
    means = {
        name: np.mean([getattr(t, name) for t in tables], axis=0).tolist() for name in ("precision", "recall", "f1")
    }
    support = tables[0].support.tolist()
    write_json(
        out / "per_class.json",
        {
            "version": 1,
            "labels": list(labels),
            **means,
            "support": support,
            "confusion": np.asarray(confusion).tolist(),
        },
    )
    rows = [(labels[a], labels[p]) for seed in scores for a, p in zip(seed.labels, seed.predicted, strict=True)]
    _write_csv(out / "confusion.csv", ["actual", "predicted"], rows)


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
    _write_csv(out / "history.csv", ["seed", "epoch", *header], rows)
    means = []
    for epoch in sorted({row[1] for row in rows}):
        columns = zip(*(row[2:] for row in rows if row[1] == epoch), strict=True)
        known = [[value for value in column if value != ""] for column in columns]
        means.append([epoch, *(float(np.mean(values)) if values else "" for values in known)])
    _write_csv(out / "curves.csv", ["epoch", *header], means)


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def _record(runs: RunFinder, ids: Mapping[str, Any], metrics: Mapping[str, Any], out: Path) -> None:
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
        parent.log_artifact(out, "evaluation")
