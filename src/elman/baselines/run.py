"""The baseline stage: a model without a network for each task, scored on the test split."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from elman.artifacts import read_batches, read_json, read_table, write_json
from elman.baselines.majority import score_majority
from elman.baselines.unigram import unigram_log_probabilities
from elman.data.tokenizer import UNK_ID
from elman.errors import ArtifactError
from elman.metrics.perplexity import perplexity_block


class TokenCounts(NamedTuple):
    """What a unigram model needs to know of a split.

    Attributes:
        tokens: int64 (vocab_size,). How often each id stands there, eos included.
        documents: Documents.
        words: Words separated by white space, eos not counted.
        bytes: UTF-8 bytes of the prepared text, eos not counted.
    """

    tokens: npt.NDArray[np.int64]
    documents: int
    words: int
    bytes: int


def write_baseline(*, task: str, encoded: Path, labels: Path, tokenizer: Path, output: Path) -> dict[str, Any]:
    """Scores the task's trivial baseline and writes it in the form of reports/<task>/baseline.json.

    Args:
        task: "classifier" or "language_model".
        encoded: Folder with train.parquet and test.parquet.
        labels: labels.json.
        tokenizer: Folder with tokenizer.json.
        output: The file to write.

    Returns:
        What was written.

    Raises:
        ArtifactError: A file is missing or damaged.
        MetricError: A split is empty.
    """
    row = (
        _majority(encoded, read_json(labels)["labels"])
        if task == "classifier"
        else _unigram(encoded, int(read_json(tokenizer / "tokenizer.json")["vocab_size"]))
    )
    result = {"version": 1, "task": task, "split": "test", "rows": [row]}
    write_json(output, result)
    return result


def count_tokens(path: Path, vocab_size: int) -> TokenCounts:
    """Counts a split batch by batch, so that memory does not grow with the text.

    Raises:
        ArtifactError: The table is missing or damaged, or holds an id outside the vocabulary.
    """
    tokens = np.zeros(vocab_size, np.int64)
    documents = words = size = 0
    for batch in read_batches(path, columns=["token_ids", "num_words", "num_bytes"]):
        ids = batch.column("token_ids").flatten().to_numpy()
        if len(ids) and (ids.min() < 0 or ids.max() >= vocab_size):
            raise ArtifactError(
                f"{path}: holds the id {ids.max()}, but the tokenizer has {vocab_size} pieces; run `dvc repro encode`"
            )
        tokens += np.bincount(ids, minlength=vocab_size)
        documents += batch.num_rows
        words += pc.sum(batch.column("num_words")).as_py() or 0
        size += pc.sum(batch.column("num_bytes")).as_py() or 0
    return TokenCounts(tokens=tokens, documents=documents, words=words, bytes=size)


def _majority(encoded: Path, names: list[str]) -> dict[str, Any]:
    train, test = (
        read_table(encoded / f"{split}.parquet", columns=["label"])["label"].to_numpy() for split in ("train", "test")
    )
    score = score_majority(train=train, test=test, num_classes=len(names))
    measures = {"accuracy": {"mean": score.accuracy}, "macro_f1": {"mean": score.macro_f1}}
    return {
        "name": "majority",
        "kind": "baseline",
        "description": f"always answers {names[score.class_id]}, the most frequent class of train",
        "measures": measures,
    }


def _unigram(encoded: Path, vocab_size: int) -> dict[str, Any]:
    train, test = (count_tokens(encoded / f"{split}.parquet", vocab_size) for split in ("train", "test"))
    logs = unigram_log_probabilities(train.tokens)
    seen = test.tokens > 0  # pad and bos have no probability and never occur: 0 times infinity is not a number
    block = perplexity_block(
        nll_nats=float(-(test.tokens[seen] * logs[seen]).sum()),
        num_tokens=int(test.tokens.sum()),
        num_words=test.words + test.documents,  # and one eos a document
        num_bytes=test.bytes + test.documents,
        num_documents=test.documents,
        num_unk=int(test.tokens[UNK_ID]),
    )
    return {
        "name": "unigram",
        "kind": "baseline",
        "description": "knows how frequent each token is in train (add-one), and nothing of its neighbours",
        "measures": {name: {"mean": value} for name, value in block.items() if name != "perplexity_overflow"},
    }
