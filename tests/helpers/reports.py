"""Made-up reports of the form that the stages write, for tests of tables, figures and pages."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import write_json
from elman.metrics.classification import confusion_matrix, macro_f1, per_class
from elman.metrics.intervals import mean_and_interval

LABELS = ["acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade"]
SUPPORT = [696, 121, 1083, 10, 81, 87, 36, 75]  # the test split of Reuters R8
ACCURACY = {"simple_rnn": 0.921, "lstm": 0.957, "gru": 0.964}
NLL = {"simple_rnn": 5.02, "lstm": 4.74, "gru": 4.71}  # nats a token
PARAMETERS = {"simple_rnn": 1_057_800, "lstm": 1_156_872, "gru": 1_124_232}
SEEDS = [1, 2, 3]
TOKENS, WORDS, BYTES = 280_000, 225_000, 1_200_000


def write_reports(root: Path, *, seeds: list[int] | None = None) -> Path:
    """Writes reports/ and the data summaries below `root`; returns the folder `reports`."""
    reports = root / "reports"
    for task in ("classifier", "language_model"):
        for number, cell in enumerate(ACCURACY):
            folder = reports / task / "cells" / cell
            random = np.random.default_rng([number, len(task)])
            measures, tables = (
                _classifier(folder, cell, random, seeds or SEEDS)
                if task == "classifier"
                else (_language_model(cell, random, seeds or SEEDS), None)
            )
            write_json(folder / "metrics.json", _metrics(task, cell, measures, seeds or SEEDS))
            if tables is not None:
                write_json(folder / "per_class.json", tables)
            _write_history(folder / "history.csv", random, seeds or SEEDS, final=0.15 if tables else NLL[cell])
    _write_baselines(reports)
    _write_summaries(root)
    return reports


def measure(values: list[float | None]) -> dict[str, Any]:
    """A measure over seeds, as metrics.json has it."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return {"mean": None, "low": None, "high": None, "per_seed": values}
    return {**mean_and_interval(known)._asdict(), "per_seed": values}


def _metrics(task: str, cell: str, measures: dict[str, Any], seeds: list[int]) -> dict[str, Any]:
    return {
        "version": 1,
        "task": task,
        "cell": cell,
        "split": "test",
        "seeds": seeds,
        "parameters": PARAMETERS[cell],
        "train_seconds": 41.0 + len(cell),
        "tokens_per_second": 81_234.0 + len(cell),
        "measures": measures,
        "valid_measures": measures,
    }


def _classifier(
    folder: Path, cell: str, random: np.random.Generator, seeds: list[int]
) -> tuple[dict[str, Any], dict[str, Any]]:
    actual = np.repeat(np.arange(len(LABELS)), SUPPORT)
    found = []
    for _ in seeds:
        right = random.random(len(actual)) < ACCURACY[cell] + random.normal(scale=0.002)
        guess = random.choice(len(LABELS), size=len(actual), p=np.array(SUPPORT) / sum(SUPPORT))
        found.append(np.where(right, actual, guess))
    tables = [per_class(actual, predicted, len(LABELS)) for predicted in found]
    confusion = sum(confusion_matrix(actual, predicted, len(LABELS)) for predicted in found)
    measures = {
        "accuracy": measure([float((actual == predicted).mean()) for predicted in found]),
        "macro_f1": measure([macro_f1(actual, predicted, len(LABELS)) for predicted in found]),
        "nll_nats_per_document": measure([0.15 + 0.01 * index for index in range(len(seeds))]),
    }
    means = {
        name: np.mean([getattr(table, name) for table in tables], axis=0).tolist()
        for name in ("precision", "recall", "f1")
    }
    classes = {"version": 1, "labels": LABELS, **means, "support": SUPPORT, "confusion": np.asarray(confusion).tolist()}
    return measures, classes


def _language_model(cell: str, random: np.random.Generator, seeds: list[int]) -> dict[str, Any]:
    sums = [(NLL[cell] + random.normal(scale=0.006)) * TOKENS for _ in seeds]
    return {
        "nll_nats_per_token": measure([total / TOKENS for total in sums]),
        "perplexity": measure([float(np.exp(total / TOKENS)) for total in sums]),
        "perplexity_per_word": measure([float(np.exp(total / WORDS)) for total in sums]),
        "bits_per_byte": measure([total / np.log(2) / BYTES for total in sums]),
        "num_tokens": measure([float(TOKENS)] * len(seeds)),
    }


def _write_history(path: Path, random: np.random.Generator, seeds: list[int], *, final: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["seed", "epoch", "train_loss", "valid_loss", "train_learning_rate"])
        for seed in seeds:
            for epoch in range(1, 9):
                loss = final + 1.4 * np.exp(-0.7 * epoch) + random.normal(scale=0.01)
                valid = "" if (seed, epoch) == (seeds[0], 1) else round(loss + 0.02 * epoch, 4)
                writer.writerow([seed, epoch, round(loss, 4), valid, 0.003])


def _write_baselines(reports: Path) -> None:
    majority = {"accuracy": {"mean": 0.4947}, "macro_f1": {"mean": 0.0827}}
    unigram = {
        "nll_nats_per_token": {"mean": 6.6},
        "perplexity": {"mean": float(np.exp(6.6))},
        "perplexity_per_word": {"mean": float(np.exp(6.6 * TOKENS / WORDS))},
        "bits_per_byte": {"mean": 6.6 * TOKENS / np.log(2) / BYTES},
    }
    for task, name, measures in (("classifier", "majority", majority), ("language_model", "unigram", unigram)):
        row = {"name": name, "kind": "baseline", "measures": measures}
        write_json(reports / task / "baseline.json", {"version": 1, "rows": [row]})


def _write_summaries(root: Path) -> None:
    documents = {"train": 4916, "valid": 564, "test": 2189}
    write_json(
        root / "data" / "prepared" / "summary.json",
        {
            "version": 1,
            "rows_read": 7674,
            "rows_used": 7669,
            "rows_rejected": 5,
            "rejected": {"stands_in_test": 5},
            "splits": {
                name: {"rows": rows, "words": rows * 105, "bytes": rows * 603} for name, rows in documents.items()
            },
            "removed_repeats": {"train": 3, "valid": 2},
            "near_duplicates": {name: {"checked": documents[name], "near_duplicates": 4} for name in ("valid", "test")},
            "num_labels": 8,
            "encoding": "utf-8",
        },
    )
    splits = {
        name: {
            "documents": rows,
            "tokens": rows * 128,
            "unk_tokens": rows // 50,
            "length_max": 1204,
            "cut_documents": 9,
        }
        for name, rows in documents.items()
    }
    write_json(root / "data" / "encoded" / "summary.json", {"vocab_size": 8000, "max_length": 256, **splits})
