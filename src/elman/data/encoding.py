"""The encode stage: prepared text and a tokenizer to tables of ids, streamed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elman.artifacts import TableWriter, read_batches, read_json, write_json
from elman.data.lengths import length_quantiles
from elman.data.sequences import BATCH_ROWS, ENCODED_SCHEMA, EncodedDocuments
from elman.data.splits import SPLITS
from elman.data.tokenizer import EOS_ID, UNK_ID, Tokenizer
from elman.errors import ArtifactError


def encode_splits(
    *, prepared: Path, tokenizer_folder: Path, output: Path, max_length: int, threads: int | None = None
) -> dict[str, Any]:
    """Encodes the three splits and writes `{train,valid,test}.parquet` and summary.json to `output`.

    Documents are never cut here, since a language model reads all of them; what the classifier will cut at `max_length`
    is counted.

    Args:
        prepared: Folder of the prepared splits and labels.json.
        tokenizer_folder: Folder that train_tokenizer wrote.
        output: Folder to write to.
        max_length: Tokens of a document, eos included, that the classifier reads.
        threads: Threads for encoding; None takes all cores.

    Returns:
        The summary: counts of each split.

    Raises:
        TokenizerError: The tokenizer is damaged or foreign.
        ArtifactError: A prepared file is missing or holds a label that labels.json lacks.
    """
    tokenizer = Tokenizer.load(tokenizer_folder)
    labels: list[str] = read_json(prepared / "labels.json")["labels"]
    summary: dict[str, Any] = {"vocab_size": tokenizer.vocab_size, "max_length": max_length}
    for split in SPLITS:
        summary[split] = encode_table(
            prepared / f"{split}.parquet",
            output / f"{split}.parquet",
            tokenizer=tokenizer,
            labels=labels,
            max_length=max_length,
            threads=threads,
        )
    write_json(output / "summary.json", summary)
    return summary


def encode_table(
    source: Path,
    target: Path,
    *,
    tokenizer: Tokenizer,
    labels: Sequence[str],
    max_length: int,
    threads: int | None = None,
) -> dict[str, Any]:
    """Encodes one prepared table and gives its counts; label ids are places in `labels`."""
    label_ids: dict[str | None, int] = {label: number for number, label in enumerate(labels)}
    label_ids[None] = -1
    lengths: list[npt.NDArray[np.int32]] = []
    unknown = words = num_bytes = 0
    with TableWriter(target, ENCODED_SCHEMA) as writer:
        for batch in read_batches(source, columns=["id", "text", "label"], batch_rows=BATCH_ROWS):
            texts: list[str] = batch.column("text").to_pylist()
            documents = encode_texts(texts, tokenizer=tokenizer, threads=threads)
            offsets = pa.array(documents.offsets.astype(np.int32))
            columns = {
                "id": batch.column("id"),
                "token_ids": pa.ListArray.from_arrays(offsets, pa.array(documents.token_ids)),
                "label": _label_ids(batch.column("label").to_pylist(), label_ids, source=source),
                "num_words": documents.num_words.astype(np.int32),
                "num_bytes": documents.num_bytes,
            }
            writer.write(columns)
            lengths.append(documents.lengths.astype(np.int32))
            unknown += int(np.count_nonzero(documents.token_ids == UNK_ID))
            words += int(documents.num_words.sum())
            num_bytes += int(documents.num_bytes.sum())
    all_lengths = np.concatenate([np.zeros(0, np.int32), *lengths])
    counts = {"unk_tokens": unknown, "words": words, "bytes": num_bytes}
    return {**_length_counts(all_lengths, max_length=max_length), **counts}


def encode_texts(texts: Sequence[str], *, tokenizer: Tokenizer, threads: int | None = None) -> EncodedDocuments:
    """Clean texts as documents without labels: ids, one eos each, and their words and bytes.

    Args:
        texts: As `clean_text` gives them; an empty one becomes its eos alone.
        tokenizer: The tokenizer.
        threads: Threads for encoding; None takes all cores.

    Returns:
        Documents in the order of the texts, with their places as ids. None is cut.

    Raises:
        UnicodeEncodeError: A text holds half of a surrogate pair.
    """
    encoded = tokenizer.encode_batch(texts, threads=threads)
    eos = np.array([EOS_ID], np.int32)
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(ids) + 1 for ids in encoded], out=offsets[1:])
    return EncodedDocuments(
        token_ids=np.concatenate([part for ids in encoded for part in (ids, eos)] or [eos[:0]]),
        offsets=offsets,
        ids=np.arange(len(texts), dtype=np.int64),
        labels=np.full(len(texts), -1, np.int32),
        num_words=np.array([len(text.split()) for text in texts], np.int64),
        num_bytes=np.array([len(text.encode()) for text in texts], np.int64),
    )


def _label_ids(names: Sequence[str | None], known: dict[str | None, int], *, source: Path) -> list[int]:
    try:
        return [known[name] for name in names]
    except KeyError as error:
        raise ArtifactError(
            f"{source}: the label {error.args[0]!r} is not in labels.json; run `dvc repro prepare`"
        ) from None


def _length_counts(lengths: npt.NDArray[np.int32], *, max_length: int) -> dict[str, Any]:
    """Counts of a split; lengths are int32 (N,), eos included."""
    cut = lengths > max_length
    return {
        "documents": len(lengths),
        "tokens": int(lengths.sum(dtype=np.int64)),
        "length_mean": float(lengths.mean()) if len(lengths) else None,
        **{f"length_{name}": value for name, value in length_quantiles(lengths).items()},
        "cut_documents": int(cut.sum()),
        "cut_tokens": int((lengths[cut].astype(np.int64) - max_length).sum()),
    }
