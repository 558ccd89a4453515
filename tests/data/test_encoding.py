"""The encode stage: ids with eos, counts of words and bytes, labels as numbers, and what the classifier will cut."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elman.artifacts import read_json
from elman.data.encoding import encode_splits
from elman.data.sequences import ENCODED_SCHEMA, read_encoded
from elman.data.tokenizer import EOS_ID, Tokenizer
from elman.data.tokenizer_training import train_tokenizer
from elman.errors import ArtifactError

TEXTS = ["the cat sat", "élan", "the  dog\tran  off to the woods", "a</s>b"]
LABELS = ["b", "c", "a", "b"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_split(tmp_path, "train", TEXTS, LABELS)
    write_split(tmp_path, "valid", ["the bird"], ["c"])
    write_split(tmp_path, "test", [], [])
    (tmp_path / "prepared" / "labels.json").write_text(json.dumps({"version": 1, "labels": ["b", "c", "a"]}))
    train_tokenizer(
        prepared=tmp_path / "prepared",
        output=tmp_path / "tokenizer",
        model="char",
        vocab_size=100,
        character_coverage=1.0,
        byte_fallback=False,
        normalization="identity",
        max_training_megabytes=1,
        seed=1,
    )
    return tmp_path


def write_split(project: Path, split: str, texts: list[str], labels: list[str | None]) -> None:
    folder = project / "prepared"
    folder.mkdir(exist_ok=True)
    ids = pa.array(range(len(texts)), pa.int64())
    table = pa.table({"id": ids, "text": pa.array(texts, pa.string()), "label": pa.array(labels, pa.string())})
    pq.write_table(table, folder / f"{split}.parquet")


def encode(project: Path, *, max_length: int = 256, threads: int | None = None) -> dict[str, dict[str, float]]:
    return encode_splits(
        prepared=project / "prepared",
        tokenizer_folder=project / "tokenizer",
        output=project / "encoded",
        max_length=max_length,
        threads=threads,
    )


def test_documents_are_their_text_and_one_eos_never_cut(project: Path) -> None:
    encode(project, max_length=4)
    tokenizer = Tokenizer.load(project / "tokenizer")
    documents = read_encoded(project / "encoded" / "train.parquet")
    for number, text in enumerate(TEXTS):
        ids = documents.token_ids[documents.offsets[number] : documents.offsets[number + 1]].tolist()
        assert ids[-1] == EOS_ID
        assert not set(ids[:-1]) & {0, 2, 3}
        assert tokenizer.decode(ids) == text


def test_words_bytes_and_labels_are_those_of_the_prepared_text(project: Path) -> None:
    encode(project)
    documents = read_encoded(project / "encoded" / "train.parquet")
    assert documents.num_words.tolist() == [3, 1, 7, 1]
    assert documents.num_bytes.tolist() == [len(text.encode()) for text in TEXTS]
    assert documents.labels.tolist() == [0, 1, 2, 0]
    assert documents.ids.tolist() == [0, 1, 2, 3]


def test_the_summary_counts_what_the_classifier_will_cut(project: Path) -> None:
    summary = encode(project, max_length=8)
    lengths = [len(" " + text) + 1 for text in TEXTS]
    assert summary == read_json(project / "encoded" / "summary.json")
    assert summary["train"]["documents"] == 4
    assert summary["train"]["tokens"] == sum(lengths)
    assert summary["train"]["length_max"] == max(lengths)
    assert summary["train"]["cut_documents"] == sum(length > 8 for length in lengths)
    assert summary["train"]["cut_tokens"] == sum(max(0, length - 8) for length in lengths)
    assert summary["train"]["unk_tokens"] == 0
    assert summary["valid"]["unk_tokens"] == 1  # i of bird
    assert summary["test"]["documents"] == summary["test"]["tokens"] == 0
    assert summary["test"]["length_mean"] is None


def test_tables_have_the_form_that_others_read(project: Path) -> None:
    encode(project)
    for split in ("train", "valid", "test"):
        assert pq.read_schema(project / "encoded" / f"{split}.parquet").equals(ENCODED_SCHEMA)


def test_documents_without_labels_have_the_label_minus_one(project: Path) -> None:
    write_split(project, "train", TEXTS, [None] * 4)
    encode(project)
    assert read_encoded(project / "encoded" / "train.parquet").labels.tolist() == [-1] * 4


def test_a_label_that_the_map_lacks_is_refused(project: Path) -> None:
    write_split(project, "valid", ["the bird"], ["z"])
    with pytest.raises(ArtifactError, match=r"valid\.parquet: the label 'z' is not in labels\.json"):
        encode(project)


def test_tables_do_not_depend_on_threads(project: Path) -> None:
    encode(project, threads=1)
    first = (project / "encoded" / "train.parquet").read_bytes()
    encode(project, threads=4)
    assert (project / "encoded" / "train.parquet").read_bytes() == first


def test_more_documents_than_one_streamed_batch_keep_their_order(project: Path) -> None:
    texts = ["the cat sat " * (number % 7 + 1) for number in range(1000)]
    write_split(project, "train", texts, ["a"] * 1000)
    encode(project)
    documents = read_encoded(project / "encoded" / "train.parquet")
    assert documents.ids.tolist() == list(range(1000))
    assert documents.lengths.tolist() == [len(" " + text) + 1 for text in texts]
