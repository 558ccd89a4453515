import math
from pathlib import Path

import numpy as np
import pytest

from elman.artifacts import TableWriter, read_json
from elman.data.sequences import EncodedDocuments
from elman.data.tables import PREPARED_SCHEMA
from elman.errors import ArtifactError
from elman.evaluation.surprise import Surprise, write_surprise

# Three documents of 5, 6 and 2 tokens; id 4 stands twice in train, 5 never, 6 often, eos 3 times.
TEST = EncodedDocuments(
    token_ids=np.array([4, 4, 5, 6, 3, 6, 6, 4, 6, 6, 3, 5, 3], np.int32),
    offsets=np.array([0, 5, 11, 13]),
    ids=np.arange(3),
    labels=np.full(3, -1, np.int32),
    num_words=np.array([4, 5, 1]),
    num_bytes=np.array([19, 29, 4]),
)
NETWORK = np.array([2.0, 1.0, 8.0, 1.0, 0.5, 3.0, 1.0, 2.0, 1.0, 1.0, 0.5, 9.0, 4.0])
KNESER_NEY = np.array([1.0, 2.0, 9.0, 2.0, 1.5, 3.5, 0.5, 1.0, 0.5, 0.5, 1.5, 8.0, 2.0])
TRAIN_COUNTS = np.array([0, 0, 0, 3, 2, 0, 4000])
TEXTS = ["one two odd three", "x " * 300, "odd"]


def write_prepared(path: Path, texts: list[str] = TEXTS) -> Path:
    with TableWriter(path, PREPARED_SCHEMA) as writer:
        for number, text in enumerate(texts):
            writer.write(
                {"id": [number], "text": [text], "label": [None], "source": ["news.csv"], "source_row": [10 + number]}
            )
    return path


@pytest.fixture
def surprise(tmp_path: Path):
    result = write_surprise(
        tmp_path / "surprise.json",
        cell="lstm",
        seeds=[1, 2],
        nats=Surprise(NETWORK, KNESER_NEY),
        test=TEST,
        train_counts=TRAIN_COUNTS,
        prepared=write_prepared(tmp_path / "test.parquet"),
    )
    assert result == read_json(tmp_path / "surprise.json")
    return result


def test_bands_of_positions_are_worked_by_hand(surprise) -> None:
    found = [(band["first"], band["last"], band["num_tokens"]) for band in surprise["by_position"]]
    assert found == [(1, 1, 3), (2, 2, 3), (3, 4, 4), (5, 6, 3)]
    nats = [band["nats_per_token"] for band in surprise["by_position"]]
    assert nats == pytest.approx([14 / 3, 6 / 3, 12 / 4, 2 / 3])
    assert surprise["by_position"][0]["bits_per_token"] == pytest.approx(14 / 3 / math.log(2))
    assert surprise["by_position"][2]["kneser_ney"]["nats_per_token"] == pytest.approx(12.5 / 4)


def test_bands_of_counts_in_train_are_worked_by_hand_and_an_empty_one_is_unknown(surprise) -> None:
    found = {band["first"]: band for band in surprise["by_train_count"]}
    assert {first: band["num_tokens"] for first, band in found.items()} == {
        0: 2, 1: 0, 2: 6, 6: 0, 21: 0, 101: 0, 1001: 5,
    }  # fmt: skip
    assert found[0]["nats_per_token"] == pytest.approx(17 / 2)
    assert found[2]["nats_per_token"] == pytest.approx((2 + 1 + 2 + 0.5 + 0.5 + 4) / 6)
    assert found[1]["nats_per_token"] is None
    assert found[1]["share_of_nll"] == 0.0
    assert found[1001]["last"] is None


@pytest.mark.parametrize("by", ["by_position", "by_train_count"])
def test_the_bands_add_up_to_the_whole(surprise, by: str) -> None:
    bands = surprise[by]
    assert sum(band["num_tokens"] for band in bands) == surprise["num_tokens"] == 13
    assert sum(band["share_of_nll"] for band in bands) == pytest.approx(1.0)
    assert sum(band["kneser_ney"]["share_of_nll"] for band in bands) == pytest.approx(1.0)
    total = sum(band["num_tokens"] * (band["nats_per_token"] or 0.0) for band in bands)
    assert total == pytest.approx(surprise["nll_nats"]) == pytest.approx(34.0)


def test_the_worst_documents_have_their_origin_their_bits_and_the_beginning_of_their_text(surprise) -> None:
    first, second = surprise["documents"]  # the document of two tokens is left out
    assert first == {
        "id": 0,
        "source": "news.csv",
        "source_row": 10,
        "text": "one two odd three",
        "num_tokens": 5,
        "bits_per_byte": pytest.approx(12.5 / math.log(2) / 20),
        "kneser_ney_bits_per_byte": pytest.approx(15.5 / math.log(2) / 20),
    }
    assert second["text"] == "x " * 100


def test_a_prepared_text_that_lacks_a_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"other\.parquet: lacks the document 1 of the encoded text"):
        write_surprise(
            tmp_path / "surprise.json",
            cell="lstm",
            seeds=[1],
            nats=Surprise(NETWORK, KNESER_NEY),
            test=TEST,
            train_counts=TRAIN_COUNTS,
            prepared=write_prepared(tmp_path / "other.parquet", TEXTS[:1]),
        )
