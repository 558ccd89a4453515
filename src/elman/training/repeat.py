"""A short seeded training, to compare two of them."""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.config import Cell, LanguageModelConfig
from elman.data.sequences import EncodedDocuments
from elman.data.tokenizer import EOS_ID
from elman.models.spec import ModelSpec
from elman.models.store import build_model
from elman.seeding import generator
from elman.training.loop import fit
from elman.training.objectives import LanguageModelObjective

_VOCAB_SIZE = 300


def weights_of_short_training(cell: Cell, *, seed: int) -> list[npt.NDArray[Any]]:
    """Train a language model of one layer, with dropout, on random documents for two epochs of 15 to 20 steps.

    Args:
        cell: Which cell.
        seed: Names everything random, the documents too.

    Returns:
        The weights at the end.
    """
    config = LanguageModelConfig(
        embedding_dim=32, units=64, learning_rate=0.01, epochs=2, batch_size=8, window_length=24, global_clipnorm=1.0,
        dropout=0.2, state="stream",
    )  # fmt: skip
    spec = ModelSpec(
        task="language_model", cell=cell, vocab_size=_VOCAB_SIZE, embedding_dim=32, units=64, dropout=0.2, seed=seed
    )
    documents = _documents(seed)
    objective = LanguageModelObjective(build_model(spec), config, documents, documents, seed=seed)
    fit(objective, config)
    return [np.asarray(weight) for weight in objective.model.get_weights()]


def weight_hash(weights: list[npt.NDArray[Any]]) -> str:
    """Return the SHA-256 of all weights' bytes, in order."""
    digest = hashlib.sha256()
    for weight in weights:
        digest.update(np.ascontiguousarray(weight).tobytes())
    return digest.hexdigest()


def _documents(seed: int) -> EncodedDocuments:
    random = generator(seed, "repeat", "documents")
    lengths = random.integers(2, 60, 100)
    token_ids = random.integers(4, _VOCAB_SIZE, lengths.sum()).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    token_ids[offsets[1:] - 1] = EOS_ID
    return EncodedDocuments(
        token_ids=token_ids,
        offsets=offsets,
        ids=np.arange(len(lengths), dtype=np.int64),
        labels=np.full(len(lengths), -1, np.int32),
        num_words=lengths.astype(np.int64) - 1,
        num_bytes=lengths.astype(np.int64) * 4,
    )
