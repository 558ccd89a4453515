"""A folder in which a small data set stands encoded, without its test split: for commands that train."""

from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from elman.artifacts import TableWriter, write_json
from elman.data.sequences import ENCODED_SCHEMA
from elman.data.tokenizer import EOS_ID
from elman.searching.trial import Inputs

VOCAB_SIZE = 30
PARAMS = Path(__file__).resolve().parents[2] / "params.yaml"
SMALL = {
    "dataset": {"path": "notes.csv"},
    "experiment": {"seeds": [7, 8]},
    "classifier": {"embedding_dim": 5, "units": 4, "epochs": 2, "batch_size": 8, "bidirectional": False},
    "language_model": {"embedding_dim": 4, "units": 4, "epochs": 2, "batch_size": 8, "window_length": 6},
}


def write_encoded_project(root: Path) -> Inputs:
    """Writes params.yaml, train and validation, and what belongs to them; half of a document's words tell its label."""
    yaml = YAML()
    params = yaml.load(PARAMS.read_text(encoding="utf-8"))
    for section, values in SMALL.items():
        params[section].update(values)
    with (root / "params.yaml").open("w", encoding="utf-8") as stream:
        yaml.dump(params, stream)
    inputs = Inputs(
        root / "data" / "encoded", root / "models" / "tokenizer", root / "data" / "prepared" / "labels.json"
    )
    write_json(inputs.tokenizer / "tokenizer.json", {"vocab_size": VOCAB_SIZE, "sha256": "5" * 64})
    write_json(inputs.labels, {"labels": ["bad", "good"]})
    for number, (split, documents) in enumerate({"train": 60, "valid": 20}.items()):
        _write_split(inputs.encoded / f"{split}.parquet", np.random.default_rng([5, number]), documents)
    return inputs


def _write_split(path: Path, random: np.random.Generator, documents: int) -> None:
    labels = random.integers(0, 2, documents)
    rows = []
    for label in labels:
        words = random.integers(4, VOCAB_SIZE, random.integers(2, 9))
        telling = random.random(len(words)) < 0.5
        rows.append([*np.where(telling, 4 + label, words).tolist(), EOS_ID])
    with TableWriter(path, ENCODED_SCHEMA) as writer:
        counts = {"num_words": [len(row) - 1 for row in rows], "num_bytes": [5 * len(row) for row in rows]}
        writer.write({"id": np.arange(documents), "token_ids": rows, "label": labels, **counts})
