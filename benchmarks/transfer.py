"""What a start from the language model brings: python -m benchmarks.transfer --data DIR --work DIR.

For each data set, cell and share of the labels: the same classifier from drawn weights and from the language model of
the same cell and seed, five seeds each, compared as `elman compare` does. How the layers are trained is chosen by the
validation loss of one seed. The data folder holds TREC.train.all and TREC.test.all (a number, then a question, on
each line); R8 comes from `dvc repro data/dvc.yaml:fetch@reuters-r8`. What is done stays in the work folder and in the
result file, and is not done again.
"""

import argparse
import csv
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.transfer_rows import Row, Text, compared
from elman.artifacts import read_json, write_json
from elman.config import Params, load_params, parse_params
from elman.data.encoding import encode_splits
from elman.data.prepare import prepare
from elman.data.tokenizer_training import train_tokenizer
from elman.training.train_cell import Inputs, train_cell
from elman.using.train import Untracked

ROOT = Path(__file__).resolve().parents[1]
RESULT = Path(__file__).parent / "transfer.json"
SEEDS, CHOOSING = (1, 2, 3, 4, 5), (1,)  # a search judges one seed too
FRACTIONS = (0.1, 1.0)
# A tenth of the labels is read more often, for both kinds: else it would be a tenth of the steps, too.
EPOCHS = {"r8": {0.1: 12, 1.0: 4}, "trec6": {0.1: 20, 1.0: 6}}
LANGUAGE_MODEL = {"r8": {}, "trec6": {"epochs": 8, "window_length": 32}}
# Howard and Ruder (2018): each layer 2.6 times as slow as the one above, and one layer more an epoch beside that.
OPTIONS: dict[str, dict[str, Any]] = {
    "all": {},
    "rates": {"rate_decay": round(1 / 2.6, 4)},
    "gradual-rates": {"unfreeze": "gradual", "rate_decay": round(1 / 2.6, 4)},
}


def main() -> None:
    """Writes benchmarks/transfer.json, a row after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with TREC.train.all and TREC.test.all")
    parser.add_argument("--r8", type=Path, default=ROOT / "data" / "raw" / "reuters-r8")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is trained")
    parser.add_argument("--cells", nargs="+", default=["gru", "lstm"])
    parser.add_argument("--fractions", nargs="+", type=float, choices=FRACTIONS, default=FRACTIONS)
    parser.add_argument("--sets", nargs="+", choices=["trec6", "r8"], default=["trec6", "r8"])
    arguments = parser.parse_args()
    for cell, fraction, name in itertools.product(arguments.cells, arguments.fractions, arguments.sets):
        done = read_json(RESULT)["rows"] if RESULT.exists() else []
        if any((row["data"], row["cell"], row["fraction"]) == (name, cell, fraction) for row in done):
            continue
        raw = arguments.r8 if name == "r8" else write_trec(arguments.data, arguments.work / "raw" / "trec6")
        row = measure(Row(Text(name, raw, arguments.work / name), cell, fraction))
        write_json(RESULT, {"version": 1, "seeds": list(SEEDS), "rows": [*done, row]})
        print(f"{name} {cell} {fraction:.0%}: {row['test']['verdict']}", flush=True)


def write_trec(source: Path, out: Path) -> Path:
    """The questions as tables; the training file is in Latin-1."""
    out.mkdir(parents=True, exist_ok=True)
    for split in ("train", "test"):
        with (out / f"{split}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            for line in (source / f"TREC.{split}.all").read_text(encoding="latin-1").splitlines():
                label, question = line.split(" ", 1)
                writer.writerow([question, f"class {label}"])
    return out


def params_of(row: Row, *, seeds: tuple[int, ...], **classifier: Any) -> Params:
    """As in params.yaml, but for a classifier of the language model's shape."""
    data = load_params(ROOT / "params.yaml").model_dump(mode="json")
    data["dataset"]["path"] = str(row.text.raw)
    data["experiment"] |= {"cells": [row.cell], "seeds": list(seeds)}
    data["language_model"] |= LANGUAGE_MODEL[row.text.name]
    shape = {name: data["language_model"][name] for name in ("embedding_dim", "units", "num_layers")}
    epochs = EPOCHS[row.text.name][row.fraction]
    data["classifier"] |= {**shape, "bidirectional": False, "epochs": epochs, "label_fraction": row.fraction}
    data["classifier"] |= classifier
    return parse_params(data)


def measure(row: Row) -> dict[str, Any]:
    """Trains what is not trained yet, and compares."""
    text = row.text
    params = params_of(row, seeds=SEEDS)
    if not (text.encoded / "summary.json").exists():
        prepare(dataset=params.dataset, cleaning=params.prepare, out=text.prepared)
        settings = params.tokenizer.model_dump(exclude={"keep"})
        train_tokenizer(prepared=text.prepared, output=text.tokenizer, threads=None, **settings)
        length = params.classifier.max_length
        encode_splits(prepared=text.prepared, tokenizer_folder=text.tokenizer, output=text.encoded, max_length=length)
    _train(row, params, task="language_model", out=text.language_models / row.cell)
    _train(row, params, task="classifier", out=row.folder("none"))
    losses, chosen = _choose(row)
    best = params_of(row, seeds=SEEDS, pretrain="language_model", **OPTIONS[chosen])
    _train(row, best, task="classifier", out=row.folder(chosen))
    return {
        "data": text.name,
        "cell": row.cell,
        "fraction": row.fraction,
        "epochs": params.classifier.epochs,
        "option": chosen,
        "validation_loss_by_option": losses,
        "language_model_valid_loss": _mean_loss(text.language_models / row.cell, SEEDS),
        **compared(row, chosen, seeds=SEEDS, max_length=params.classifier.max_length),
    }


def _choose(row: Row) -> tuple[Mapping[str, float], str]:
    """The mean validation loss of each option, and the option with the lowest one; written down, and not done twice."""
    path = row.folder("chosen.json")
    if not path.exists():
        losses = {}
        for name, option in OPTIONS.items():
            params = params_of(row, seeds=CHOOSING, pretrain="language_model", **option)
            _train(row, params, task="classifier", out=row.folder(name))
            losses[name] = _mean_loss(row.folder(name), CHOOSING)
        write_json(path, {"losses": losses, "chosen": min(losses, key=lambda name: losses[name])})
    found = read_json(path)
    return found["losses"], found["chosen"]


def _train(row: Row, params: Params, *, task: str, out: Path) -> None:
    text = row.text
    checkpoints = text.work / "checkpoints" / out.name
    labels = text.prepared / "labels.json"
    inputs = Inputs(text.encoded, text.tokenizer, labels, checkpoints, out, text.language_models)
    print(f"{text.name} {row.cell} {row.fraction:.0%} {task} {out.name}", flush=True)
    train_cell(params=params, task=task, cell=row.cell, inputs=inputs, recorder=Untracked(), tags={})


def _mean_loss(folder: Path, seeds: tuple[int, ...]) -> float:
    histories = (read_json(folder / f"seed-{seed}" / "history.json") for seed in seeds)
    return float(np.mean([min(epoch["valid/loss"] for epoch in history) for history in histories]))


if __name__ == "__main__":
    main()
