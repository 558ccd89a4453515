"""Texts as vectors: what the model's own layers give, whatever the batch."""

from pathlib import Path

import numpy as np
import pytest

import elman
from elman.data.cleaning import clean_text
from elman.data.tokenizer import BOS_ID, EOS_ID
from elman.errors import DataError
from tests.helpers.served_models import CLEANING, MAX_LENGTH, random_texts, write_served

TEXTS = [*random_texts(40, seed=3), "", "the keys near the door " * 9]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    write_served(root, cell="gru")
    write_served(root, task="language_model", cell="lstm", num_layers=2)
    return root


def token_ids(model: object, text: str) -> list[int]:
    return model.tokenizer.encode_batch([clean_text(text, **CLEANING)])[0].tolist()


def test_a_language_models_vector_is_the_top_layers_state_after_the_last_token(root: Path) -> None:
    model = elman.load("lstm", models=root / "models")
    found = model.embed(TEXTS)
    assert (found.dtype, found.shape) == (np.float32, (len(TEXTS), model.embedding_dim))
    for text, vector in zip(TEXTS, found, strict=True):
        ids = np.array([[BOS_ID, *token_ids(model, text)]], np.int32)
        encoded = model.model.encoder(ids, padding_mask=np.ones_like(ids, bool))
        np.testing.assert_allclose(vector, encoded.last_state[0], rtol=0, atol=1e-5)


def test_a_classifiers_vector_is_what_its_classes_are_told_from(root: Path) -> None:
    model = elman.load("gru", models=root / "models")
    found = model.embed(TEXTS)
    assert found.shape == (len(TEXTS), 3 * 2 * 5) == (len(TEXTS), model.embedding_dim)
    for text, vector in zip(TEXTS, found, strict=True):
        ids = [*token_ids(model, text)[: MAX_LENGTH - 1], EOS_ID]
        padded = np.array([[*ids, *[7] * (MAX_LENGTH - len(ids))]], np.int32)
        mask = np.arange(MAX_LENGTH)[None] < len(ids)
        np.testing.assert_allclose(vector, model.model.represent(padded, mask)[0], rtol=0, atol=1e-5)
    probabilities = [list(one.probabilities.values()) for one in model.classify(TEXTS)]
    logits = found @ model.model.head.kernel.numpy() + model.model.head.bias.numpy()
    expected = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(probabilities, expected / expected.sum(axis=1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("name", ["gru", "lstm"])
def test_a_row_that_is_no_text_is_named_and_no_text_gives_no_row(root: Path, name: str) -> None:
    model = elman.load(name, models=root / "models")
    with pytest.raises(DataError, match="row 2: a text is needed, but came NoneType"):
        model.embed(["the", None])
    assert model.embed([]).shape == (0, model.embedding_dim)
    assert len(list(model.embed_each([None, "the"]))) == 2
