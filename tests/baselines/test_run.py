import math
from pathlib import Path

import numpy as np
import pytest

from elman.artifacts import TableWriter, read_json, read_table, write_json
from elman.baselines.classifier import read_splits
from elman.baselines.kneser_ney import fit_kneser_ney
from elman.baselines.ngram_counts import count_ngrams
from elman.baselines.run import write_baseline
from elman.data.label_share import share_rows
from elman.data.sequences import ENCODED_SCHEMA, read_encoded
from elman.data.tables import PREPARED_SCHEMA
from elman.errors import ArtifactError, MetricError
from elman.metrics.score_columns import CLASSIFIER_SCORES, LANGUAGE_MODEL_SCORES, LANGUAGE_MODEL_TOKENS


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


LABELS = ["acq", "earn"]
TEXTS = {
    "train": ["buy shares", "profit up", "buy company", "profit rise", "buy stake", "net profit"],
    "valid": ["buy it", "a profit"],
    "test": ["profit falls", "they buy", "profit"],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for split, texts in TEXTS.items():
        with TableWriter(tmp_path / "prepared" / f"{split}.parquet", PREPARED_SCHEMA) as writer:
            labels = ["earn" if "profit" in text else "acq" for text in texts]
            numbers = list(range(len(texts)))
            columns = {"id": numbers, "text": texts, "label": labels, "source": ["x"] * len(texts)}
            writer.write({**columns, "source_row": numbers})
    write_json(tmp_path / "prepared" / "labels.json", {"version": 1, "labels": LABELS})
    _write_split(tmp_path / "train.parquet", [[4, 5, 3], [4, 4, 3], [5, 4, 3]], [1, 0, 1])
    _write_split(tmp_path / "valid.parquet", [[4, 5, 3]], [1])
    _write_split(tmp_path / "test.parquet", [[4, 1, 3], [6, 3]], [1, 0])
    write_json(tmp_path / "tokenizer.json", {"version": 1, "vocab_size": 7})
    return tmp_path


def _baseline(project: Path, task: str):
    return write_baseline(
        task=task, prepared=project / "prepared", encoded=project, tokenizer=project, reports=project / "reports"
    )


def test_the_classifier_rows_are_the_majority_class_and_weighed_words(project: Path) -> None:
    result = _baseline(project, "classifier")
    assert result == read_json(project / "reports" / "baseline.json")
    majority, tfidf = result["rows"]
    assert (majority["name"], majority["kind"]) == ("majority", "baseline")
    assert "acq" in majority["description"]
    assert majority["measures"] == {"accuracy": {"mean": pytest.approx(1 / 3)}, "macro_f1": {"mean": 0.25}}
    assert (tfidf["name"], tfidf["kind"]) == ("tfidf", "baseline")
    assert "C = 1," in tfidf["description"]
    assert tfidf["measures"]["accuracy"] == {"mean": 1.0}


def test_a_baseline_learns_from_the_share_of_the_labels_that_cells_with_seed_1_do(project: Path) -> None:
    splits = read_splits(project / "prepared", LABELS, label_fraction=0.5)
    labels = np.array(["profit" in text for text in TEXTS["train"]], int)
    rows = share_rows(labels, fraction=0.5, seed=1)
    assert splits.train.texts == [TEXTS["train"][row] for row in rows]
    assert splits.train.labels.tolist() == labels[rows].tolist()
    assert np.bincount(splits.train.labels).tolist() == [2, 2]
    assert splits.test.texts == TEXTS["test"]


def test_the_scores_of_tfidf_have_a_cells_columns_and_give_its_measures(project: Path) -> None:
    row = _baseline(project, "classifier")["rows"][1]
    table = read_table(project / "reports" / "baselines" / "tfidf" / "scores.parquet")
    assert table.schema.equals(CLASSIFIER_SCORES)
    assert table["id"].to_pylist() == [0, 1, 2]
    assert table["label"].to_pylist() == [1, 0, 1]
    assert table["predicted"].to_pylist() == [1, 0, 1]
    assert np.mean(table["nll_nats"]) == pytest.approx(row["measures"]["nll_nats_per_document"]["mean"])
    assert np.exp(-table["nll_nats"].to_numpy()) == pytest.approx(table["probability"].to_numpy())  # all are right


def test_the_unigram_row_is_the_perplexity_block_worked_by_hand(project: Path) -> None:
    # Train: 4 stands 4 times, 5 twice, eos 3 times, N = 9; targets are all ids but pad and bos, V = 5.
    # Test: 4, unk, eos, 6, eos, so the product of probabilities is 5/14 * 1/14 * 4/14 * 1/14 * 4/14.
    nll = -math.log(5 * 1 * 4 * 1 * 4 / 14**5)
    row = _baseline(project, "language_model")["rows"][0]
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


def test_the_kneser_ney_row_is_the_best_order_on_validation_with_scores_that_add_up(project: Path) -> None:
    unigram, row = _baseline(project, "language_model")["rows"]
    train, valid, test = (read_encoded(project / f"{split}.parquet") for split in ("train", "valid", "test"))
    counts = count_ngrams(train.token_ids, train.lengths, order=5, vocab_size=7)
    models = [fit_kneser_ney(counts, order=order) for order in (2, 3, 4, 5)]
    best = max(models, key=lambda model: model.log_probabilities(valid.token_ids, valid.lengths).sum())
    logs = best.log_probabilities(test.token_ids, test.lengths)
    assert row["name"] == "kneser_ney"
    assert f"order {best.order}:" in row["description"]
    assert row["measures"].keys() == unigram["measures"].keys()
    assert row["measures"]["perplexity"]["mean"] == pytest.approx(math.exp(-logs.mean()))
    table = read_table(project / "reports" / "baselines" / "kneser_ney" / "scores.parquet")
    assert table.schema.equals(LANGUAGE_MODEL_SCORES)
    assert table["nll_nats"].to_pylist() == pytest.approx([-logs[:3].sum(), -logs[3:].sum()])
    sums = {name: int(np.sum(table[name])) for name in ("num_tokens", "num_words", "num_bytes")}
    assert sums == {"num_tokens": 5, "num_words": 6, "num_bytes": 20}
    tokens = read_table(project / "reports" / "baselines" / "kneser_ney" / "tokens.parquet")
    assert tokens.schema.equals(LANGUAGE_MODEL_TOKENS)
    assert tokens["split"].to_pylist() == ["valid"] * 3 + ["test"] * 5
    assert tokens["token_id"].to_pylist() == [4, 5, 3, 4, 1, 3, 6, 3]
    both = [best.log_probabilities(split.token_ids, split.lengths) for split in (valid, test)]
    assert tokens["log_probability"].to_pylist() == np.concatenate(both).tolist()


def test_an_empty_split_is_an_error_and_no_perfect_model(project: Path) -> None:
    _write_split(project / "test.parquet", [], [])
    with pytest.raises(MetricError, match="num_tokens"):
        _baseline(project, "language_model")
    assert not (project / "reports").exists()


@pytest.mark.parametrize(
    ("task", "file"), [("classifier", "prepared/valid.parquet"), ("language_model", "valid.parquet")]
)
def test_missing_inputs_name_the_file_and_the_command(project: Path, task: str, file: str) -> None:
    (project / file).unlink()
    with pytest.raises(ArtifactError, match=r"valid\.parquet: no such file; run `dvc repro`"):
        _baseline(project, task)
    assert not (project / "reports" / "baseline.json").exists()


def test_a_label_without_a_number_is_named(project: Path) -> None:
    write_json(project / "prepared" / "labels.json", {"version": 1, "labels": ["acq"]})
    with pytest.raises(ArtifactError, match=r"train\.parquet: holds labels without a number: earn"):
        _baseline(project, "classifier")
