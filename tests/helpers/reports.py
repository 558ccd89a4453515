"""Made-up reports of the form that the stages write, for tests of tables, figures and pages."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import write_json
from elman.metrics.classification import confusion_matrix, macro_f1, per_class
from elman.metrics.intervals import mean_and_interval
from tests.helpers.scores import write_scores

LABELS = ["acq", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade"]
SUPPORT = [696, 121, 1083, 10, 81, 87, 36, 75]  # the test split of Reuters R8
ACCURACY = {"simple_rnn": 0.921, "lstm": 0.957, "gru": 0.964}
NLL = {"simple_rnn": 5.02, "lstm": 4.74, "gru": 4.71}  # nats a token
PARAMETERS = {"simple_rnn": 1_057_800, "lstm": 1_156_872, "gru": 1_124_232}
SEEDS = [1, 2, 3]
RUN_IDS = {"simple_rnn": "5" * 32, "lstm": "e" * 32, "gru": "9" * 32}
MISTAKE = {
    "id": 17, "label": "ship", "predicted": "trade", "probability": 0.93, "label_probability": 0.02, "seeds_wrong": 3,
    "source": "reuters-r8-test.tab", "source_row": 22, "text": "tankers wait <outside> the port & nobody unloads them",
}  # fmt: skip
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
                else (_language_model(folder, cell, random, seeds or SEEDS), None)
            )
            write_json(folder / "run.json", {"version": 1, "parent_run_id": RUN_IDS[cell], "runs": {}})
            write_json(folder / "metrics.json", _metrics(task, cell, measures, seeds or SEEDS))
            if tables is not None:
                write_json(folder / "per_class.json", tables)
                write_json(folder / "calibration.json", _calibration(random, seeds or SEEDS))
                write_json(folder / "mistakes.json", {"version": 1, "mistakes": [MISTAKE]})
            else:
                write_json(folder / "mixture.json", _mixture(folder, cell, random, seeds or SEEDS))
                write_json(folder / "surprise.json", _surprise(cell, random, seeds or SEEDS))
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
        "train_tokens": 2_412_345.0,
        "epochs": 8.0,
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
    ids, sure = np.arange(len(actual)), np.stack([random.uniform(0.4, 1.0, len(actual)) for _ in seeds])
    nll = np.where(np.stack(found) == actual, -np.log(sure), 3.0)
    columns = {"id": ids, "label": actual, "predicted": np.stack(found), "probability": sure, "nll_nats": nll}
    write_scores(folder, columns, seeds=tuple(seeds), metrics=False)
    tables = [per_class(actual, predicted, len(LABELS)) for predicted in found]
    confusion = sum(confusion_matrix(actual, predicted, len(LABELS)) for predicted in found)
    measures = {
        "accuracy": measure([float((actual == predicted).mean()) for predicted in found]),
        "macro_f1": measure([macro_f1(actual, predicted, len(LABELS)) for predicted in found]),
        "nll_nats_per_document": measure(nll.mean(axis=1).tolist()),
    }
    means = {
        name: np.mean([getattr(table, name) for table in tables], axis=0).tolist()
        for name in ("precision", "recall", "f1")
    }
    classes = {"version": 1, "labels": LABELS, **means, "support": SUPPORT, "confusion": np.asarray(confusion).tolist()}
    return measures, classes


def _language_model(
    folder: Path, cell: str, random: np.random.Generator, seeds: list[int], *, better_by: float = 0.0
) -> dict[str, Any]:
    sums = [(NLL[cell] - better_by + random.normal(scale=0.006)) * TOKENS for _ in seeds]
    shares = np.random.default_rng(7).dirichlet(np.full(500, 4.0))  # of the documents in tokens, words and bytes
    noise = random.normal(1.0, 0.03, (len(seeds), 500))
    nll = shares * noise / (shares * noise).sum(axis=1, keepdims=True) * np.array(sums)[:, None]
    counts = {f"num_{name}": np.maximum((shares * total).astype(np.int64), 1)
              for name, total in (("tokens", TOKENS), ("words", WORDS), ("bytes", BYTES))}  # fmt: skip
    write_scores(folder, {"id": np.arange(500), "nll_nats": nll, **counts}, seeds=tuple(seeds), metrics=False)
    return {
        "nll_nats_per_token": measure([total / TOKENS for total in sums]),
        "perplexity": measure([float(np.exp(total / TOKENS)) for total in sums]),
        "perplexity_per_word": measure([float(np.exp(total / WORDS)) for total in sums]),
        "bits_per_byte": measure([total / np.log(2) / BYTES for total in sums]),
        "num_tokens": measure([float(TOKENS)] * len(seeds)),
    }


def _mixture(folder: Path, cell: str, random: np.random.Generator, seeds: list[int]) -> dict[str, Any]:
    """What the evaluate stage writes; a mixture is better than the cell alone."""
    measures = _language_model(folder / "mixture", cell, random, seeds, better_by=0.3)
    return {
        "version": 1,
        "task": "language_model",
        "cell": cell,
        "baseline": "kneser_ney",
        "split": "test",
        "seeds": seeds,
        "weight": measure([0.7 + random.normal(scale=0.01) for _ in seeds]),
        "measures": measures,
        "valid_measures": measures,
    }


def _calibration(random: np.random.Generator, seeds: list[int]) -> dict[str, Any]:
    documents = np.array([0, 0, 0, 0, 0, 3, 12, 20, 25, 31, 40, 60, 110, 260, 1628])
    centres = (np.arange(15) + 0.5) / 15
    parts = {}
    for name, gap in (("as_trained", 0.06), ("scaled", 0.01)):
        right = np.clip(centres - gap + random.normal(0, 0.01, 15), 0, 1)
        bins = {"documents": documents.tolist(), "confidence": centres.tolist(), "accuracy": right.tolist()}
        values = (gap * np.linspace(0.8, 1.2, len(seeds))).tolist()
        parts[name] = {
            "expected_calibration_error": measure(values), "nll_nats_per_document": measure([4 * v for v in values]),
            "reliability": bins,
        }  # fmt: skip
    return {"version": 1, "bins": 15, "temperature": measure(np.linspace(1.2, 1.5, len(seeds)).tolist()), **parts}


def _surprise(cell: str, random: np.random.Generator, seeds: list[int]) -> dict[str, Any]:
    """What the evaluate stage writes; no token of test stands once in train."""
    documents = [
        {
            "id": 7 * number, "source": "test.tsv", "source_row": 7 * number + 1, "num_tokens": 20 + number,
            "text": f"odd document number {number} of {cell}", "bits_per_byte": 3.4 - 0.1 * number,
            "kneser_ney_bits_per_byte": 3.0 - 0.1 * number,
        }
        for number in range(20)
    ]  # fmt: skip
    return {
        "version": 1,
        "task": "language_model",
        "cell": cell,
        "split": "test",
        "seeds": seeds,
        "num_tokens": TOKENS,
        "nll_nats": NLL[cell] * TOKENS,
        "by_position": _bands(random, [1, 2, 4, 8, 16, 300], [3_000, 3_000, 6_000, 11_000, 20_000, 237_000]),
        "by_train_count": _bands(random, [0, 1, 5, None], [900, 0, 20_000, 259_100]),
        "documents": documents,
    }


def _bands(random: np.random.Generator, lasts: list[int | None], sizes: list[int]) -> list[dict[str, Any]]:
    def measured(size: int) -> dict[str, float | None]:
        nats = float(random.uniform(3.0, 9.0)) if size else None
        bits = None if nats is None else nats / np.log(2)
        return {"nats_per_token": nats, "bits_per_token": bits, "share_of_nll": size / TOKENS}

    return [
        {"first": last or 0, "last": last, "num_tokens": size, **measured(size), "kneser_ney": measured(size)}
        for last, size in zip(lasts, sizes, strict=True)
    ]


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
    shares = zip(LABELS, SUPPORT, strict=True)
    labels = [
        {"label": label, **{split: round(rows * count / sum(SUPPORT)) for split, rows in documents.items()}}
        for label, count in shares
    ]
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
            "overlap_with_train": {
                "valid": {"exact": 0, "near": 5, "checked": 564, "share": 5 / 564},
                "test": {"exact": 2, "near": 5, "checked": 2189, "share": 7 / 2189},
            },
            "document_words": [{"split": name, "min": 5, "p50": 67.0, "p95": 352.0, "max": 964} for name in documents],
            "labels": labels,
            "num_labels": 8,
            "encoding": "utf-8",
        },
    )
    splits = {
        name: {
            "documents": rows,
            "tokens": rows * 128,
            "unk_tokens": rows // 50,
            "length_min": 7,
            "length_p50": 72.0,
            "length_p95": 375.0,
            "length_max": 1204,
            "cut_documents": 9,
            "cut_tokens": 2_345,
        }
        for name, rows in documents.items()
    }
    write_json(root / "data" / "encoded" / "summary.json", {"vocab_size": 8000, "max_length": 256, **splits})
