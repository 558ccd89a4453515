"""The train_tokenizer stage: from the prepared train split to a tokenizer and what is known about it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from elman.artifacts import read_batches, read_json, replacing, sha256_file, write_json
from elman.data.sequences import BATCH_ROWS
from elman.data.splits import SPLITS
from elman.data.tokenizer import METADATA_FILE, MODEL_FILE, UNK_ID, VERSION, Tokenizer, train_sentencepiece
from elman.data.training_text import TrainingText
from elman.errors import TokenizerError
from elman.seeding import generator

_MEGABYTE = 1_000_000


def train_tokenizer(
    *,
    prepared: Path,
    output: Path,
    model: str,
    vocab_size: int,
    character_coverage: float,
    byte_fallback: bool,
    normalization: str,
    max_training_megabytes: int,
    seed: int,
    threads: int | None = None,
) -> dict[str, Any]:
    """Trains on the train split alone and writes tokenizer.model, tokenizer.json and summary.json to `output`.

    The same text and parameters give the same bytes of tokenizer.model. Memory holds the text that is trained on, never
    the whole split.

    Args:
        prepared: Folder of the prepared splits.
        output: Folder to write to.
        model: unigram, bpe, word or char.
        vocab_size: Largest number of pieces; the real number is read back and written to tokenizer.json.
        character_coverage: Share of the characters, by count, that get a piece.
        byte_fallback: Unseen characters become byte pieces instead of unk.
        normalization: SentencePiece's rule.
        max_training_megabytes: Train text over this many MB is sampled by `seed`, for training and for the measures.
        seed: Names the sample.
        threads: Threads for the measures; the training itself has a fixed number.

    Returns:
        The summary.

    Raises:
        TokenizerError: The train split has no text, or `vocab_size` is below the number of characters.
    """
    train = prepared / "train.parquet"
    total_bytes, has_tab = _survey(train)
    if total_bytes == 0:
        raise TokenizerError(f"{train}: the tokenizer has no text to learn from")
    text = TrainingText(
        _texts(train),
        whole_words=model == "word",
        keep_fraction=_share(total_bytes, max_training_megabytes),
        random=generator(seed, "tokenizer", "sample"),
    )
    serialized = train_sentencepiece(
        text,
        model=model,
        vocab_size=vocab_size,
        character_coverage=character_coverage,
        byte_fallback=byte_fallback,
        normalization=normalization,
        # SentencePiece keeps the tab for itself and gives it no piece unless told to.
        required_characters="\t" if has_tab and normalization in ("identity", "nfkc", "nfkc_cf") else "",
    )
    with replacing(output / MODEL_FILE) as temporary:
        temporary.write_bytes(serialized)
    tokenizer = Tokenizer(serialized, model=model)
    summary: dict[str, Any] = {
        "pieces": tokenizer.vocab_size,
        "requested_pieces": vocab_size,
        "bytes_seen": text.bytes_seen,
        "bytes_used": text.bytes_used,
        "bytes_left_out_by_sampling": text.bytes_left_out,
        "bytes_of_reserved_characters": text.bytes_reserved,
        "words_cut": text.words_cut,
    }
    summary |= _measure_splits(
        tokenizer,
        prepared,
        normalization=normalization,
        max_megabytes=max_training_megabytes,
        seed=seed,
        threads=threads,
    )
    metadata = {
        "version": VERSION,
        "model": model,
        "vocab_size": tokenizer.vocab_size,
        "requested_vocab_size": vocab_size,
        "character_coverage": character_coverage,
        "byte_fallback": byte_fallback,
        "normalization": normalization,
        "seed": seed,
        "sha256": sha256_file(output / MODEL_FILE),
    }
    write_json(output / METADATA_FILE, metadata)
    write_json(output / "summary.json", summary)
    return summary


def keep_tokenizer(
    kept: Path, *, prepared: Path, output: Path, max_megabytes: int, seed: int, threads: int | None = None
) -> dict[str, Any]:
    """Takes a trained tokenizer as it is, so that models before and after read the same pieces; measures it anew.

    Args:
        kept: Folder with its tokenizer.model and tokenizer.json.
        prepared: Folder of the prepared splits, which are measured only.
        output: Folder to write to.
        max_megabytes: About this much text of each split is measured at most.
        seed: Names the documents that are drawn.
        threads: Threads for the measures.

    Returns:
        The summary.

    Raises:
        TokenizerError: The kept tokenizer is missing or damaged.
    """
    tokenizer = Tokenizer.load(kept)
    metadata = read_json(kept / METADATA_FILE)
    summary: dict[str, Any] = {
        "pieces": tokenizer.vocab_size,
        "requested_pieces": metadata["requested_vocab_size"],
        "kept": True,
    }
    summary |= _measure_splits(
        tokenizer,
        prepared,
        normalization=metadata["normalization"],
        max_megabytes=max_megabytes,
        seed=seed,
        threads=threads,
    )
    for name in (MODEL_FILE, METADATA_FILE):
        with replacing(output / name) as temporary:
            temporary.write_bytes((kept / name).read_bytes())
    write_json(output / "summary.json", summary)
    return summary


def _measure_splits(
    tokenizer: Tokenizer, prepared: Path, *, normalization: str, max_megabytes: int, seed: int, threads: int | None
) -> dict[str, Any]:
    identity = normalization == "identity"
    return {
        split: measure(
            tokenizer,
            prepared / f"{split}.parquet",
            identity=identity,
            max_megabytes=max_megabytes,
            seed=seed,
            threads=threads,
        )
        for split in SPLITS
    }


def measure(
    tokenizer: Tokenizer,
    path: Path,
    *,
    identity: bool,
    max_megabytes: int,
    seed: int,
    threads: int | None = None,
) -> dict[str, float | None]:
    """How a tokenizer treats one prepared split; streamed.

    A split of more than `max_megabytes` MB is measured on documents drawn by `seed`: the encode stage counts all of
    them anyway, and a tokenizer that a person tries out should not cost a second pass over everything.

    Args:
        tokenizer: The tokenizer.
        path: Prepared table.
        identity: The tokenizer's normalization is identity, which changes nothing but U+2581.
        max_megabytes: About this much text is measured at most.
        seed: Names the documents that are drawn.
        threads: Threads for encoding; None takes all cores.

    Returns:
        documents and tokens (eos not counted) that were measured, unk_fraction and tokens_per_word (None where there
        are no tokens or words), and normalization_changed_characters: characters of the texts that the normalised
        texts lack.
    """
    keep_fraction = _share(_survey(path)[0], max_megabytes)
    random = generator(seed, "tokenizer", "measure", path.stem)
    documents = tokens = unknown = words = changed = 0
    for batch in read_batches(path, columns=["text"], batch_rows=BATCH_ROWS):
        texts = batch.column("text").filter(pa.array(random.random(len(batch)) < keep_fraction)).to_pylist()
        documents += len(texts)
        encoded = tokenizer.encode_batch(texts, threads=threads)
        tokens += sum(len(ids) for ids in encoded)
        unknown += int(sum(np.count_nonzero(ids == UNK_ID) for ids in encoded))
        words += sum(len(text.split()) for text in texts)
        changed += sum(text.count("▁") if identity else _changed(text, tokenizer.normalize(text)) for text in texts)
    return {
        "documents": documents,
        "tokens": tokens,
        "unk_fraction": unknown / tokens if tokens else None,
        "tokens_per_word": tokens / words if words else None,
        "normalization_changed_characters": changed,
    }


def _share(size: int, megabytes: int) -> float:
    """The share of `size` bytes that `megabytes` MB are, at most all."""
    return min(1.0, megabytes * _MEGABYTE / size) if size else 1.0


def _changed(text: str, normalized: str) -> int:
    if text == normalized:
        return 0
    return sum((Counter(text) - Counter(normalized)).values())


def _texts(path: Path) -> Iterator[str]:
    for batch in read_batches(path, columns=["text"], batch_rows=BATCH_ROWS):
        yield from batch.column("text").to_pylist()


def _survey(path: Path) -> tuple[int, bool]:
    """UTF-8 bytes of the split, and whether it holds a tab."""
    total, has_tab = 0, False
    for batch in read_batches(path, columns=["text"], batch_rows=BATCH_ROWS):
        texts: pa.Array = batch.column("text")
        total += pc.sum(pc.binary_length(texts)).as_py() or 0
        has_tab = has_tab or bool(pc.any(pc.match_substring(texts, "\t")).as_py())
    return total, has_tab
