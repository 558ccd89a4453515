"""How the settings of presets/r8-adversarial.yaml were chosen: python -m benchmarks.r8_settings --work DIR.

R8's test documents are later in time than those of train, and a random part of train is easier than they are. So the
latest 15 % of the train documents, which stand in order of time, judge here: some settings, three seeds each, beside
the linear model. The test file is not read. R8 comes from `dvc repro data/dvc.yaml:fetch@reuters-r8`. What is done
stays in the work folder, and is not done again.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import read_json, write_json
from elman.baselines.classifier import read_splits
from elman.baselines.tfidf import score_tfidf
from elman.config import Params, load_params, parse_params
from elman.metrics.classification import accuracy
from elman.using.train import train

ROOT = Path(__file__).resolve().parents[1]
RESULT = Path(__file__).parent / "r8_settings.json"
SEEDS = [1, 2, 3]
LATEST = 0.15  # share of the documents that judge
OLDEST = 60  # documents that stand in the test split's place; nothing is scored on them
SUBWORDS, WORDS = {}, {"model": "word", "vocab_size": 20_000}
# Name, cell, tokenizer, classifier: changes of presets/r8-bidirectional.yaml.
SETTINGS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("gru, words, epsilon 0.1", "gru", WORDS, {"adversarial_epsilon": 0.1}),
    ("gru, words, epsilon 0.05", "gru", WORDS, {"adversarial_epsilon": 0.05}),
    ("gru, words, epsilon 0.2", "gru", WORDS, {"adversarial_epsilon": 0.2}),
    ("gru, words", "gru", WORDS, {}),
    ("gru, epsilon 0.1", "gru", SUBWORDS, {"adversarial_epsilon": 0.1}),
    ("r8-bidirectional", "lstm", SUBWORDS, {}),
]


def main() -> None:
    """Writes benchmarks/r8_settings.json, a row after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--r8", type=Path, default=ROOT / "data" / "raw" / "reuters-r8")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is trained")
    arguments = parser.parse_args()
    raw = write_splits(arguments.r8 / "train.tsv", arguments.work / "raw")
    rows: list[dict[str, Any]] = []
    linear = None  # it reads words, whatever the tokenizer
    for name, cell, tokenizer, classifier in SETTINGS:
        work = arguments.work / name.replace(", ", "-").replace(" ", "-")
        rows.append({"settings": name, **judge(params_of(raw, cell, tokenizer, classifier), cell, work)})
        linear = linear or linear_accuracy(work / "data" / "prepared")
        write_json(RESULT, {"version": 1, "seeds": SEEDS, "linear_accuracy": linear, "rows": rows})
        print(f"{name}: {rows[-1]}", flush=True)


def write_splits(source: Path, out: Path) -> Path:
    """The train file without its latest part, that part as validation, and the oldest documents in the test's place."""
    header, *documents = source.read_text(encoding="utf-8").splitlines(keepends=True)
    late = round(len(documents) * (1.0 - LATEST))
    parts = {"train": documents[OLDEST:late], "valid": documents[late:], "test": documents[:OLDEST]}
    out.mkdir(parents=True, exist_ok=True)
    for split, lines in parts.items():
        (out / f"{split}.tsv").write_text("".join([header, *lines]), encoding="utf-8")
    return out


def params_of(raw: Path, cell: str, tokenizer: dict[str, Any], classifier: dict[str, Any]) -> Params:
    """The preset with changes."""
    data = load_params(ROOT / "presets" / "r8-bidirectional.yaml").model_dump(mode="json")
    data["dataset"]["path"] = str(raw)
    data["experiment"] |= {"cells": [cell], "seeds": SEEDS}
    data["tokenizer"] |= tokenizer
    data["classifier"] |= classifier
    return parse_params(data)


def judge(params: Params, cell: str, work: Path) -> dict[str, Any]:
    """Trains what is not trained yet: measures of each seed's kept epoch, and seconds of training."""
    train(params, task="classifier", cell=cell, out=work)
    models = work / "models" / "classifier" / cell
    seeds = read_json(models / "summary.json")["per_seed"]
    kept = [read_json(models / f"seed-{seed}" / "history.json")[seeds[str(seed)]["best_epoch"] - 1] for seed in SEEDS]
    found = {key: [epoch[f"valid/{key}"] for epoch in kept] for key in ("accuracy", "macro_f1", "loss")}
    return {
        **found,
        "mean_accuracy": float(np.mean(found["accuracy"])),
        "mean_loss": float(np.mean(found["loss"])),
        "train_seconds": float(np.median([seed["train_seconds"] for seed in seeds.values()])),
    }


def linear_accuracy(prepared: Path) -> float:
    """Of TF-IDF with logistic regression, with the penalty that is best on these very documents."""
    names = read_json(prepared / "labels.json")["labels"]
    train, valid, _ = read_splits(prepared, names)
    scores = score_tfidf(train=train, valid=valid, test=valid, num_classes=len(names))
    return accuracy(valid.labels, scores.log_probabilities.argmax(axis=1))


if __name__ == "__main__":
    main()
