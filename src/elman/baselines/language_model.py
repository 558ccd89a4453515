"""The language models without a network: how frequent tokens are, and which n-grams were seen."""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elman.artifacts import TableWriter
from elman.baselines.kneser_ney import fit_kneser_ney
from elman.baselines.ngram_counts import count_ngrams
from elman.baselines.row import Row, baseline_row
from elman.baselines.unigram import unigram_log_probabilities
from elman.data.sequences import (
    EncodedDocuments,
    document_counts,
    document_sums,
    perplexity_counts,
    read_encoded,
)
from elman.data.token_counts import count_tokens
from elman.data.tokenizer import UNK_ID
from elman.metrics.perplexity import perplexity_block
from elman.metrics.score_columns import LANGUAGE_MODEL_SCORES, LANGUAGE_MODEL_TOKENS, NO_SEED

ORDERS = (2, 3, 4, 5)  # of the n-gram models among which validation chooses


def unigram_row(encoded: Path, vocab_size: int) -> Row:
    """The add-one unigram model of train on test.

    Args:
        encoded: Folder with train.parquet and test.parquet.
        vocab_size: V.
    """
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
    return baseline_row(
        "unigram", "knows how frequent each token is in train (add-one), and nothing of its neighbours", block
    )


def kneser_ney_row(encoded: Path, vocab_size: int, *, out: Path) -> Row:
    """The Kneser-Ney model of the order, among `ORDERS`, that is best on validation, and its scores.

    Args:
        encoded: Folder with train.parquet, valid.parquet and test.parquet.
        vocab_size: V.
        out: Folder for scores.parquet (test, by document) and tokens.parquet (validation and test, by token).

    Raises:
        ArtifactError: A table is missing or damaged.
        MetricError: A split is empty, or a text is not as the encode stage writes it.
    """
    started = time.perf_counter()
    train, valid, test = (read_encoded(encoded / f"{split}.parquet") for split in ("train", "valid", "test"))
    counts = count_ngrams(train.token_ids, train.lengths, order=max(ORDERS), vocab_size=vocab_size)
    models = [fit_kneser_ney(counts, order=order) for order in ORDERS]
    on_valid = [model.log_probabilities(valid.token_ids, valid.lengths) for model in models]
    chosen = int(np.argmax([logs.mean() for logs in on_valid]))
    best = models[chosen]
    seconds = time.perf_counter() - started
    on_test = best.log_probabilities(test.token_ids, test.lengths)
    nll_nats = document_sums(-on_test, test)
    block = perplexity_block(nll_nats=float(nll_nats.sum()), **perplexity_counts(test))
    _write_scores(out / "scores.parquet", test, nll_nats)
    _write_tokens(out / "tokens.parquet", {"valid": (valid, on_valid[chosen]), "test": (test, on_test)})
    description = (
        f"interpolated modified Kneser-Ney, order {best.order}: knows the {best.order - 1} tokens before; of orders "
        f"{min(ORDERS)} to {max(ORDERS)} this one was best on validation"
    )
    costs = {
        "parameters": sum(len(keys) for keys in best.keys),
        "train_tokens": len(train.token_ids),
        "train_seconds": seconds,
        "trials": len(ORDERS),
    }
    return baseline_row("kneser_ney", description, block, costs=costs)


def _write_scores(path: Path, split: EncodedDocuments, nll_nats: npt.NDArray[np.float64]) -> None:
    with TableWriter(path, LANGUAGE_MODEL_SCORES) as writer:
        writer.write(
            {
                "seed": np.full(len(split), NO_SEED),
                "id": np.arange(len(split)),
                "nll_nats": nll_nats,
                **document_counts(split),
            }
        )


def _write_tokens(path: Path, splits: Mapping[str, tuple[EncodedDocuments, npt.NDArray[np.float64]]]) -> None:
    with TableWriter(path, LANGUAGE_MODEL_TOKENS) as writer:
        for name, (documents, logs) in splits.items():
            names = pa.DictionaryArray.from_arrays(np.zeros(len(logs), np.int8), [name])
            writer.write({"split": names, "token_id": documents.token_ids, "log_probability": logs})
