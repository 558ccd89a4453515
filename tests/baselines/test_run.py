import math
from pathlib import Path

import pytest

from elman.artifacts import TableWriter, read_json, write_json
from elman.baselines.run import count_tokens, write_baseline
from elman.data.sequences import ENCODED_SCHEMA
from elman.errors import ArtifactError, MetricError


def _write_split(path: Path, documents: list[list[int]], labels: list[int]) -> None:
    with TableWriter(path, ENCODED_SCHEMA) as writer:
        for start in range(0, len(documents), 2):  # several row groups, as the encode stage writes
            rows = documents[start : start + 2]
            writer.write(
                {
                    "id": list(range(start, start + len(rows))),
                    "token_ids": rows,
                    "label": labels[start : start + 2],
                    "num_words": [2] * len(rows),
                    "num_bytes": [9] * len(rows),
                }
            )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    _write_split(tmp_path / "train.parquet", [[4, 5, 3], [4, 4, 3], [5, 4, 3]], [1, 0, 1])
    _write_split(tmp_path / "test.parquet", [[4, 1, 3], [6, 3]], [1, 0])
    write_json(tmp_path / "labels.json", {"version": 1, "labels": ["acq", "earn"]})
    write_json(tmp_path / "tokenizer.json", {"version": 1, "vocab_size": 7})
    return tmp_path


def _baseline(project: Path, task: str):
    return write_baseline(
        task=task,
        encoded=project,
        labels=project / "labels.json",
        tokenizer=project,
        output=project / "reports" / "baseline.json",
    )


def test_the_majority_row_holds_accuracy_and_macro_f1(project: Path) -> None:
    result = _baseline(project, "classifier")
    assert result == read_json(project / "reports" / "baseline.json")
    (row,) = result["rows"]
    assert (row["name"], row["kind"]) == ("majority", "baseline")
    assert "earn" in row["description"]
    assert row["measures"] == {"accuracy": {"mean": 0.5}, "macro_f1": {"mean": pytest.approx(1 / 3)}}


def test_the_unigram_row_is_the_perplexity_block_worked_by_hand(project: Path) -> None:
    # Train: 4 stands 4 times, 5 twice, eos 3 times, N = 9; targets are all ids but pad and bos, V = 5.
    # Test: 4, unk, eos, 6, eos, so the product of probabilities is 5/14 * 1/14 * 4/14 * 1/14 * 4/14.
    nll = -math.log(5 * 1 * 4 * 1 * 4 / 14**5)
    (row,) = _baseline(project, "language_model")["rows"]
    means = {name: values["mean"] for name, values in row["measures"].items()}
    assert row["name"] == "unigram"
    assert means == {
        "nll_nats_per_token": pytest.approx(nll / 5),
        "perplexity": pytest.approx(math.exp(nll / 5)),
        "perplexity_per_word": pytest.approx(math.exp(nll / 6)),  # 2 documents of 2 words and one eos
        "bits_per_byte": pytest.approx(nll / math.log(2) / 20),  # 2 documents of 9 bytes and one eos
        "num_tokens": 5,
        "num_words": 6,
        "num_bytes": 20,
        "num_documents": 2,
        "unk_fraction": pytest.approx(0.2),
    }


def test_an_empty_split_is_an_error_and_no_perfect_model(project: Path) -> None:
    _write_split(project / "test.parquet", [], [])
    with pytest.raises(MetricError, match="num_tokens"):
        _baseline(project, "language_model")
    assert not (project / "reports").exists()


def test_an_id_outside_the_vocabulary_names_the_file(project: Path) -> None:
    with pytest.raises(ArtifactError, match=r"train\.parquet: holds the id 5, but the tokenizer has 5 pieces"):
        count_tokens(project / "train.parquet", 5)


def test_missing_inputs_name_the_file_and_the_command(tmp_path: Path) -> None:
    write_json(tmp_path / "labels.json", {"version": 1, "labels": ["a"]})
    with pytest.raises(ArtifactError, match=r"train\.parquet: no such file; run `dvc repro`"):
        _baseline(tmp_path, "classifier")


def test_counting_reads_the_table_in_parts(project: Path) -> None:
    counts = count_tokens(project / "train.parquet", 7)
    assert counts.tokens.tolist() == [0, 0, 0, 3, 4, 2, 0]
    assert (counts.documents, counts.words, counts.bytes) == (3, 6, 27)
