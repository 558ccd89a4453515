"""Models of the default size with fresh weights, for timings that do not depend on what they have learned."""

from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import sha256_file, write_json
from elman.config import Task, load_params
from elman.data.tokenizer import METADATA_FILE, MODEL_FILE, VERSION, Tokenizer, train_sentencepiece
from elman.data.training_text import TrainingText
from elman.models.serving import Cleaning, Serving, TokenizerFile, write_serving
from elman.models.spec import ModelSpec
from elman.models.store import build_model, save_model

ROOT = Path(__file__).resolve().parents[1]
_OWN_SIZES = {"classifier": ("bidirectional", "pooling"), "language_model": ("tie_embeddings",)}


def text(words: int, *, seed: int) -> str:
    """Made-up words of two to four syllables, frequent ones often."""
    random = np.random.default_rng(seed)
    syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]
    types = ["".join(np.random.default_rng(number).choice(syllables, 2 + number % 3)) for number in range(3000)]
    weights = 1.0 / (2.7 + np.arange(len(types)))
    return " ".join(random.choice(types, words, p=weights / weights.sum()))


def write_default_model(root: Path, *, cell: str, task: Task = "language_model") -> Path:
    """A tokenizer and a model as params.yaml sets them; returns the folder of the cell."""
    params = load_params(ROOT / "params.yaml")
    size = params.tokenizer.vocab_size
    serialized = train_sentencepiece(TrainingText([text(50_000, seed=1)]), model="unigram", vocab_size=size)
    tokenizer = Tokenizer(serialized, model="unigram")
    folder = root / "models" / "tokenizer"
    folder.mkdir(parents=True)
    (folder / MODEL_FILE).write_bytes(serialized)
    digest = sha256_file(folder / MODEL_FILE)
    facts = {"version": VERSION, "sha256": digest, "model": "unigram", "vocab_size": tokenizer.vocab_size}
    write_json(folder / METADATA_FILE, facts)
    config = getattr(params, task)
    names = ["embedding_dim", "units", "num_layers", *_OWN_SIZES[task]]
    sizes = {name: getattr(config, name) for name in names}
    if task == "language_model":
        own: dict[str, Any] = {"state": config.state, "window_length": config.window_length}
    else:
        own = {"labels": tuple(f"class {number}" for number in range(8)), "max_length": config.max_length}
        sizes["num_classes"] = 8
    out = root / "models" / task / cell
    save_model(
        build_model(ModelSpec(task=task, cell=cell, vocab_size=tokenizer.vocab_size, seed=1, **sizes)), out / "seed-1"
    )
    serving = Serving(
        task=task,
        cell=cell,
        cleaning=Cleaning(unicode_form="NFC", lowercase=False, whitespace="collapse"),
        tokenizer=TokenizerFile(path="../../tokenizer", sha256=digest),
        mixed_precision=False,
        valid_loss={1: 0.0},
        **own,
    )
    write_serving(out, serving)
    return out
