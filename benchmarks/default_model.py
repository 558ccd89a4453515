"""A language model of the default size with fresh weights, for timings that do not depend on what it has learned."""

from pathlib import Path

import numpy as np

from elman.artifacts import sha256_file, write_json
from elman.config import load_params
from elman.data.tokenizer import METADATA_FILE, MODEL_FILE, VERSION, Tokenizer, train_sentencepiece
from elman.data.training_text import TrainingText
from elman.models.serving import Cleaning, Serving, TokenizerFile, write_serving
from elman.models.spec import ModelSpec
from elman.models.store import build_model, save_model

ROOT = Path(__file__).resolve().parents[1]


def text(words: int, *, seed: int) -> str:
    """Made-up words of two to four syllables, frequent ones often."""
    random = np.random.default_rng(seed)
    syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]
    types = ["".join(np.random.default_rng(number).choice(syllables, 2 + number % 3)) for number in range(3000)]
    weights = 1.0 / (2.7 + np.arange(len(types)))
    return " ".join(random.choice(types, words, p=weights / weights.sum()))


def write_default_model(root: Path, *, cell: str) -> Path:
    """A tokenizer and a language model as params.yaml sets them; returns the folder of the cell."""
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
    config = params.language_model
    sizes = {name: getattr(config, name) for name in ("embedding_dim", "units", "num_layers", "tie_embeddings")}
    spec = ModelSpec(task="language_model", cell=cell, vocab_size=tokenizer.vocab_size, seed=1, **sizes)
    out = root / "models" / "language_model" / cell
    save_model(build_model(spec), out / "seed-1")
    serving = Serving(
        task="language_model",
        cell=cell,
        cleaning=Cleaning(unicode_form="NFC", lowercase=False, whitespace="collapse"),
        tokenizer=TokenizerFile(path="../../tokenizer", sha256=digest),
        mixed_precision=False,
        state=config.state,
        window_length=config.window_length,
        valid_loss={1: 0.0},
    )
    write_serving(out, serving)
    return out
