"""A model with fresh weights and its tokenizer, as folders that commands can load."""

from pathlib import Path

from elman.artifacts import sha256_file, write_json
from elman.data.tokenizer import METADATA_FILE, MODEL_FILE, VERSION, Tokenizer, train_sentencepiece
from elman.models.spec import ModelSpec
from elman.models.store import build_model, save_model

SENTENCES = ["the key near the cabinets is old", "the keys near the cabinet are new", "a door by the river falls"]


def write_tokenizer(folder: Path) -> Tokenizer:
    """Characters of `SENTENCES`."""
    folder.mkdir(parents=True)
    serialized = train_sentencepiece(SENTENCES, model="char", vocab_size=40)
    (folder / MODEL_FILE).write_bytes(serialized)
    size = Tokenizer(serialized, model="char").vocab_size
    digest = sha256_file(folder / MODEL_FILE)
    write_json(folder / METADATA_FILE, {"version": VERSION, "sha256": digest, "model": "char", "vocab_size": size})
    return Tokenizer.load(folder)


def write_model(root: Path, **changes: object) -> Path:
    """`models/tokenizer`, and a language model below `models`; returns the model's folder."""
    tokenizer = write_tokenizer(root / "models" / "tokenizer")
    plain = {"task": "language_model", "cell": "lstm", "embedding_dim": 6, "units": 5, "seed": 1}
    spec = ModelSpec(**{**plain, "vocab_size": tokenizer.vocab_size, **changes})
    folder = root / "models" / spec.task / spec.cell / "seed-1"
    save_model(build_model(spec), folder)
    return folder
