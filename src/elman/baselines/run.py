"""The baseline stage: the models without a network for each task, scored on the test split."""

from pathlib import Path
from typing import Any

from elman.artifacts import read_json, write_json
from elman.baselines.classifier import majority_row, read_splits, tfidf_row
from elman.baselines.language_model import kneser_ney_row, unigram_row


def write_baseline(
    *, task: str, prepared: Path, encoded: Path, tokenizer: Path, reports: Path, label_fraction: float = 1.0
) -> dict[str, Any]:
    """Scores the task's baselines: baseline.json holds them, the trivial one first.

    Those that can compete with a network also get baselines/<name>/scores.parquet, with a cell's columns, and the
    language model's baselines/kneser_ney/tokens.parquet, for mixtures.

    Args:
        task: "classifier" or "language_model".
        prepared: Folder with the prepared splits and labels.json.
        encoded: Folder with the encoded splits.
        tokenizer: Folder with tokenizer.json.
        reports: The task's folder, reports/<task>.
        label_fraction: Share of the labels that a classifier learns from, as the cells do.

    Returns:
        What baseline.json holds.

    Raises:
        ArtifactError: A file is missing or damaged.
        MetricError: A split is empty.
    """
    if task == "classifier":
        names = read_json(prepared / "labels.json")["labels"]
        splits = read_splits(prepared, names, label_fraction=label_fraction)
        rows = [
            majority_row(splits, names),
            tfidf_row(splits, names, scores=reports / "baselines" / "tfidf" / "scores.parquet"),
        ]
    else:
        vocab_size = int(read_json(tokenizer / "tokenizer.json")["vocab_size"])
        rows = [
            unigram_row(encoded, vocab_size),
            kneser_ney_row(encoded, vocab_size, out=reports / "baselines" / "kneser_ney"),
        ]
    result = {"version": 1, "task": task, "split": "test", "rows": rows}
    write_json(reports / "baseline.json", result)
    return result
