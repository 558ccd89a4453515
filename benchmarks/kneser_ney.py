"""The Kneser-Ney baseline on the Penn Treebank beside its published perplexity, and its speed.

    python -m benchmarks.kneser_ney --data FOLDER

FOLDER holds ptb.train.txt, ptb.valid.txt and ptb.test.txt. Writes benchmarks/kneser_ney.json; ends with 1 where the
5-gram test perplexity is over 1 % off 141.2 (mikolov2012statistical in docs/references.bib), or a million tokens take
over 30 seconds on one core.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from elman.artifacts import write_json
from elman.baselines.kneser_ney import KneserNey, fit_kneser_ney
from elman.baselines.ngram_counts import count_ngrams
from elman.data.tokenizer import EOS_ID, UNK_ID

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = 141.2
TOLERANCE = 0.01
LIMIT_SECONDS = 30.0
COUNTS = {"train": (42_068, 929_589), "valid": (3_370, 73_760), "test": (3_761, 82_430)}  # lines; tokens with eos
TYPES = 10_000  # with eos
TIMED_TOKENS = 1_000_000

Text = tuple[np.ndarray, np.ndarray]  # ids and lengths


def read_text(path: Path, numbers: dict[str, int]) -> Text:
    """Words as ids, one eos a line; new words get the next number."""
    ids: list[int] = []
    lengths = []
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        ids += [UNK_ID if word == "<unk>" else numbers.setdefault(word, len(numbers) + EOS_ID + 1) for word in words]
        ids.append(EOS_ID)
        lengths.append(len(words) + 1)
    return np.array(ids, np.int32), np.array(lengths, np.int64)


def read_splits(folder: Path) -> tuple[dict[str, Text], int]:
    """All splits and the vocabulary size; a text that is not the known one is refused."""
    numbers: dict[str, int] = {}
    splits = {name: read_text(folder / f"ptb.{name}.txt", numbers) for name in COUNTS}
    found = {name: (len(lengths), len(ids)) for name, (ids, lengths) in splits.items()}
    types = len(numbers) + 2  # unk and eos
    if found != COUNTS or types != TYPES:
        sys.exit(f"{folder}: lines and tokens {COUNTS} and {TYPES} types are known, {found} and {types} were found")
    return splits, types + 2  # pad and bos


def perplexity(model: KneserNey, text: Text) -> float:
    """The exponential of the mean negative log-likelihood, eos included."""
    return float(np.exp(-model.log_probabilities(*text).mean()))


def first_tokens(texts: list[Text], number: int) -> Text:
    """The first `number` tokens of several texts as whole documents, the last one cut and ended with eos."""
    ids, lengths = (np.concatenate(parts) for parts in zip(*texts, strict=True))
    ends = np.cumsum(lengths)
    whole = int(np.searchsorted(ends, number, side="right"))
    left = number - int(ends[whole - 1])
    ids = ids[:number].copy()
    ids[-1] = EOS_ID
    return ids, np.append(lengths[:whole], [left] if left else []).astype(np.int64)


def time_million(splits: dict[str, Text], vocab_size: int) -> dict[str, Any]:
    """Seconds to train a 5-gram model on a million tokens and to score the same million."""
    text = first_tokens(list(splits.values()), TIMED_TOKENS)
    started = time.perf_counter()
    model = fit_kneser_ney(count_ngrams(*text, order=5, vocab_size=vocab_size), order=5)
    trained = time.perf_counter()
    scored = len(model.log_probabilities(*text))
    ended = time.perf_counter()
    return {
        "tokens": scored,
        "train_seconds": round(trained - started, 2),
        "score_seconds": round(ended - trained, 2),
        "seconds": round(ended - started, 2),
        "limit_seconds": LIMIT_SECONDS,
    }


def main() -> int:
    """Measures, writes the file and prints one line an order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with ptb.{train,valid,test}.txt")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "kneser_ney.json")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])  # one core
    splits, vocab_size = read_splits(arguments.data)
    counts = count_ngrams(*splits["train"], order=5, vocab_size=vocab_size)
    rows = []
    for order in range(1, 6):
        model = fit_kneser_ney(counts, order=order)
        measured = {name: round(perplexity(model, splits[name]), 3) for name in ("valid", "test")}
        rows.append({"order": order, **measured, "discounts": [round(value, 4) for value in model.discounts[-1]]})
        print(f"order {order}: valid {measured['valid']:.2f}, test {measured['test']:.2f}")
    speed = time_million(splits, vocab_size)
    off = rows[-1]["test"] / PUBLISHED - 1.0
    print(f"5-gram test perplexity {rows[-1]['test']:.2f}, published {PUBLISHED}: {off:+.2%}")
    print(f"{speed['tokens']:,} tokens: trained in {speed['train_seconds']} s, scored in {speed['score_seconds']} s")
    known = {"published_test": PUBLISHED, "relative_difference": round(off, 5), "tolerance": TOLERANCE}
    write_json(arguments.out, {"version": 1, "text": "ptb", **known, "rows": rows, "one_core": speed})
    return int(abs(off) > TOLERANCE or speed["seconds"] > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
