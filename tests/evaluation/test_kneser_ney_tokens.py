from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from elman.artifacts import TableWriter
from elman.data.sequences import EncodedDocuments
from elman.errors import ArtifactError
from elman.evaluation.kneser_ney_tokens import read_kneser_ney_tokens
from elman.metrics.score_columns import LANGUAGE_MODEL_TOKENS
from tests.helpers.documents import random_documents

SPLITS = {"valid": random_documents([3, 1, 4], seed=1), "test": random_documents([2, 5], seed=2)}
LOGS = {"valid": -np.arange(1.0, 9.0), "test": -np.arange(1.0, 8.0) / 4}


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    with TableWriter(tmp_path / "tokens.parquet", LANGUAGE_MODEL_TOKENS) as writer:
        for name, documents in SPLITS.items():
            names = pa.DictionaryArray.from_arrays(np.zeros(documents.num_tokens, np.int8), [name])
            writer.write({"split": names, "token_id": documents.token_ids, "log_probability": LOGS[name]})
    return tmp_path / "tokens.parquet"


def test_each_split_gets_its_own_log_probabilities_to_the_bit(tokens: Path) -> None:
    found = read_kneser_ney_tokens(tokens, SPLITS)
    assert {name: logs.tolist() for name, logs in found.items()} == {name: logs.tolist() for name, logs in LOGS.items()}


def test_without_the_file_the_stage_that_writes_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"tokens\.parquet: no such file.*dvc repro baseline"):
        read_kneser_ney_tokens(tmp_path / "tokens.parquet", SPLITS)


def test_a_baseline_of_another_tokenizer_is_refused(tokens: Path) -> None:
    shorter = SPLITS | {"test": random_documents([2, 4], seed=2)}
    with pytest.raises(ArtifactError, match=r"has 7 tokens of test, the encoded text 6: it is of another tokenizer"):
        read_kneser_ney_tokens(tokens, shorter)


def test_as_many_tokens_of_another_text_are_refused_with_the_first_that_differs(tokens: Path) -> None:
    test = SPLITS["test"]
    ids = test.token_ids.copy()
    ids[3] += 1
    other = EncodedDocuments(ids, test.offsets, test.ids, test.labels, test.num_words, test.num_bytes)
    message = rf"token 3 of test is {ids[3] - 1}, in the encoded text {ids[3]}: it is of another tokenizer or text"
    with pytest.raises(ArtifactError, match=message):
        read_kneser_ney_tokens(tokens, SPLITS | {"test": other})


def test_a_split_that_the_baseline_did_not_score_is_refused(tokens: Path) -> None:
    with pytest.raises(ArtifactError, match="has 0 tokens of train"):
        read_kneser_ney_tokens(tokens, {"train": SPLITS["valid"]})
