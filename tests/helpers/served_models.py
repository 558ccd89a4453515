"""Trained models as a pipeline leaves them, with fresh weights: tokenizer, prepared and encoded text, serving.json."""

from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import TableWriter, read_json, write_json
from elman.data.encoding import encode_table
from elman.data.tables import PREPARED_SCHEMA
from elman.data.tokenizer import Tokenizer
from elman.models.serving import Serving, write_serving
from elman.models.spec import ModelSpec
from elman.models.store import build_model, save_model
from tests.helpers.small_model import SENTENCES, write_tokenizer

LABELS = ("left", "middle", "right")
MAX_LENGTH = 20
CLEANING = {"unicode_form": "NFC", "lowercase": True, "whitespace": "collapse"}


def write_served(
    root: Path, *, losses: dict[int, float] | None = None, state: str = "document", **changes: object
) -> Path:
    """`models/tokenizer`, and a model a seed with its serving.json below `models`; returns the cell's folder."""
    tokenizer = root / "models" / "tokenizer"
    if not tokenizer.exists():
        write_tokenizer(tokenizer)
    metadata = read_json(tokenizer / "tokenizer.json")
    plain: dict[str, Any] = {"task": "classifier", "cell": "lstm", "embedding_dim": 6, "units": 5}
    own: dict[str, Any] = {"state": state, "window_length": 7}
    if changes.get("task", "classifier") == "classifier":
        plain |= {"num_classes": len(LABELS), "bidirectional": True, "pooling": "all"}
        own = {"labels": LABELS, "max_length": MAX_LENGTH}
    plain |= {"vocab_size": metadata["vocab_size"], **changes}
    folder = root / "models" / plain["task"] / plain["cell"]
    losses = losses or {1: 0.5}
    for seed in losses:
        model = build_model(ModelSpec(**plain, seed=seed))
        random = np.random.default_rng(seed)
        for weight in model.weights:  # fresh weights hardly tell one text from another
            weight.assign(weight.numpy() + random.normal(0.0, 0.5, weight.shape))
        save_model(model, folder / f"seed-{seed}")
    known = {"path": "../../tokenizer", "sha256": metadata["sha256"]}
    shared = {"task": plain["task"], "cell": plain["cell"], "cleaning": CLEANING, "tokenizer": known}
    write_serving(folder, Serving(**shared, **own, mixed_precision=False, valid_loss=losses))
    return folder


def random_texts(count: int, *, seed: int = 1) -> list[str]:
    """Texts of different lengths in the words of the tokenizer, with capitals, double spaces and unknown characters."""
    random = np.random.default_rng(seed)
    words = [*" ".join(SENTENCES).split(), "Keys", "ÜBER", "old "]
    return [" ".join(random.choice(words, random.integers(1, 16))) for _ in range(count)]


def write_encoded(root: Path, texts: list[str]) -> Path:
    """Clean texts as prepared and encoded test splits; returns the encoded one. Labels go round."""
    prepared, encoded = root / "prepared" / "test.parquet", root / "encoded" / "test.parquet"
    places = range(len(texts))
    with TableWriter(prepared, PREPARED_SCHEMA) as writer:
        labels = [LABELS[place % 3] for place in places]
        writer.write({"id": list(places), "text": texts, "label": labels, "source": ["x"] * len(texts),
                      "source_row": list(places)})  # fmt: skip
    tokenizer = Tokenizer.load(root / "models" / "tokenizer")
    encode_table(prepared, encoded, tokenizer=tokenizer, labels=LABELS, max_length=MAX_LENGTH)
    write_json(root / "prepared" / "labels.json", {"labels": list(LABELS)})
    return encoded
