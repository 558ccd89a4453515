"""The train_tokenizer stage: what it writes, from what, and that it writes the same again."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elman.artifacts import read_json, sha256_file
from elman.data.tokenizer import UNK_ID, Tokenizer
from elman.data.tokenizer_training import keep_tokenizer, measure, train_tokenizer
from elman.errors import TokenizerError

OPTIONS: dict[str, Any] = {
    "model": "unigram",
    "vocab_size": 120,
    "character_coverage": 1.0,
    "byte_fallback": False,
    "normalization": "identity",
    "max_training_megabytes": 100,
    "seed": 1,
}
TRAIN = [f"the {animal} number {number} sat on the mat" for number in range(40) for animal in ("cat", "dog", "owl")]


def prepare(folder: Path, *, train: list[str], valid: list[str] | None = None, test: list[str] | None = None) -> Path:
    for split, texts in (("train", train), ("valid", valid or []), ("test", test or [])):
        folder.mkdir(parents=True, exist_ok=True)
        table = pa.table({"id": pa.array(range(len(texts)), pa.int64()), "text": pa.array(texts, pa.string())})
        pq.write_table(table, folder / f"{split}.parquet")
    return folder


def test_the_stage_writes_a_tokenizer_with_its_metadata(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "prepared", train=TRAIN)
    train_tokenizer(prepared=prepared, output=tmp_path / "out", **OPTIONS)
    tokenizer = Tokenizer.load(tmp_path / "out")
    metadata = read_json(tmp_path / "out" / "tokenizer.json")
    assert metadata["vocab_size"] == tokenizer.vocab_size
    assert metadata["sha256"] == sha256_file(tmp_path / "out" / "tokenizer.model")
    assert {key: metadata[key] for key in ("version", "model", "normalization", "byte_fallback")} == {
        "version": 1,
        "model": "unigram",
        "normalization": "identity",
        "byte_fallback": False,
    }


def test_the_summary_counts_each_split(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "prepared", train=TRAIN, valid=["the cat", "the ▁ zzz"])
    options = {**OPTIONS, "model": "word"}
    summary = train_tokenizer(prepared=prepared, output=tmp_path / "out", **options)
    assert summary == read_json(tmp_path / "out" / "summary.json")
    assert summary["bytes_seen"] == summary["bytes_used"] == sum(map(len, TRAIN))
    assert summary["pieces"] < summary["requested_pieces"] == 120
    assert summary["train"]["unk_fraction"] == 0.0
    # The mark beside two spaces makes two empty words between `the` and `zzz`.
    assert summary["valid"]["normalization_changed_characters"] == 1
    assert summary["valid"]["tokens"] == 2 + 4
    assert summary["valid"]["unk_fraction"] == pytest.approx(3 / 6)
    assert summary["test"] == {
        "documents": 0,
        "tokens": 0,
        "unk_fraction": None,
        "tokens_per_word": None,
        "normalization_changed_characters": 0,
    }


def test_the_tokenizer_learns_from_train_only(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "prepared", train=TRAIN, valid=["Żółw"] * 100, test=["Ωμέγα"] * 100)
    summary = train_tokenizer(prepared=prepared, output=tmp_path / "out", **OPTIONS)
    tokenizer = Tokenizer.load(tmp_path / "out")
    for text in ("Żółw", "Ωμέγα"):
        assert UNK_ID in tokenizer.encode_batch([text])[0]
    assert summary["train"]["unk_fraction"] == 0.0
    assert summary["test"]["unk_fraction"] > 0.0


def test_normalization_is_counted_in_characters_that_went_away(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "prepared", train=["The Cat ﬁts"] * 20)
    options = {**OPTIONS, "model": "char", "normalization": "nfkc_cf"}
    summary = train_tokenizer(prepared=prepared, output=tmp_path / "out", **options)
    assert summary["train"]["normalization_changed_characters"] == 20 * 3  # T, C and the ligature


def test_tabs_that_were_kept_get_a_piece(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "prepared", train=["name\tvalue", "other\tthing"] * 20)
    summary = train_tokenizer(prepared=prepared, output=tmp_path / "out", **OPTIONS)
    assert summary["train"]["unk_fraction"] == 0.0


@pytest.mark.parametrize("model", ["unigram", "bpe", "word", "char"])
def test_the_same_text_and_parameters_give_the_same_bytes_in_another_process(tmp_path: Path, model: str) -> None:
    prepared = prepare(tmp_path / "prepared", train=TRAIN)
    options = {**OPTIONS, "model": model}
    train_tokenizer(prepared=prepared, output=tmp_path / "first", **options)
    code = (
        "import json, sys; from pathlib import Path; from elman.data.tokenizer_training import train_tokenizer; "
        "train_tokenizer(prepared=Path(sys.argv[1]), output=Path(sys.argv[2]), threads=1, **json.loads(sys.argv[3]))"
    )
    command = [sys.executable, "-c", code, str(prepared), str(tmp_path / "second"), json.dumps(options)]
    subprocess.run(command, check=True, env={"PYTHONPATH": "src", "PYTHONHASHSEED": "7"})
    for name in ("tokenizer.model", "tokenizer.json", "summary.json"):
        assert sha256_file(tmp_path / "first" / name) == sha256_file(tmp_path / "second" / name), name


def test_more_text_than_allowed_is_sampled_by_the_seed(tmp_path: Path) -> None:
    texts = [f"{line} {number}" for number in range(300) for line in TRAIN]
    prepared = prepare(tmp_path / "prepared", train=texts)
    size = sum(map(len, texts))
    assert size > 1_000_000

    def run(seed: int) -> tuple[dict[str, Any], str]:
        options = {**OPTIONS, "model": "word", "max_training_megabytes": 1, "seed": seed}
        summary = train_tokenizer(prepared=prepared, output=tmp_path / str(seed), **options)
        return summary, sha256_file(tmp_path / str(seed) / "tokenizer.model")

    summary, digest = run(1)
    assert summary["bytes_seen"] == size
    assert summary["bytes_used"] + summary["bytes_left_out_by_sampling"] == size
    assert summary["bytes_used"] == pytest.approx(1_000_000, rel=0.1)
    assert summary["train"]["documents"] == pytest.approx(len(texts) * 1_000_000 / size, rel=0.1)
    assert run(1)[1] == digest
    assert run(2)[1] != digest


def test_a_train_split_without_text_is_refused(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "prepared", train=[])
    with pytest.raises(TokenizerError, match=r"train\.parquet: the tokenizer has no text to learn from"):
        train_tokenizer(prepared=prepared, output=tmp_path / "out", **OPTIONS)


def test_a_split_can_be_measured_on_its_own(tmp_path: Path) -> None:
    prepared = prepare(tmp_path / "prepared", train=TRAIN, test=["the cat", "an unknown word"])
    train_tokenizer(prepared=prepared, output=tmp_path / "out", **{**OPTIONS, "model": "word"})
    measured = measure(
        Tokenizer.load(tmp_path / "out"), prepared / "test.parquet", identity=True, max_megabytes=1, seed=1
    )
    assert measured["documents"] == 2
    assert measured["tokens"] == 5
    assert measured["unk_fraction"] == pytest.approx(3 / 5)
    assert measured["tokens_per_word"] == 1.0


def test_a_kept_tokenizer_is_taken_as_it_is_and_measured_on_the_new_text(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    trained = train_tokenizer(prepared=prepare(tmp_path / "first", train=TRAIN), output=old, **OPTIONS)
    prepared = prepare(tmp_path / "second", train=["other words entirely", "ж"])
    summary = keep_tokenizer(old, prepared=prepared, output=new, max_megabytes=1, seed=1)
    for name in ("tokenizer.model", "tokenizer.json"):
        assert (new / name).read_bytes() == (old / name).read_bytes()
    assert summary["pieces"] == trained["pieces"]
    assert summary["train"]["unk_fraction"] > trained["train"]["unk_fraction"] == 0.0
    (old / "tokenizer.model").write_bytes(b"other")
    with pytest.raises(TokenizerError, match="damaged or was put there from elsewhere"):
        keep_tokenizer(old, prepared=prepared, output=new, max_megabytes=1, seed=1)
