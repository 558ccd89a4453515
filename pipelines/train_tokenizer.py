"""Trains the tokenizer on the train split."""

from pathlib import Path

from elman.config import load_params
from elman.data.tokenizer_training import train_tokenizer
from elman.stages import run_stage


def main() -> None:
    """Runs the stage with what params.yaml says."""
    params = load_params(Path("params.yaml"))
    tokenizer = params.tokenizer
    summary = train_tokenizer(
        prepared=Path("data/prepared"),
        output=Path("models/tokenizer"),
        model=tokenizer.model,
        vocab_size=tokenizer.vocab_size,
        character_coverage=tokenizer.character_coverage,
        byte_fallback=tokenizer.byte_fallback,
        normalization=tokenizer.normalization,
        max_training_megabytes=tokenizer.max_training_megabytes,
        seed=tokenizer.seed,
        threads=params.compute.threads,
    )
    train = summary["train"]
    print(
        f"{tokenizer.model} tokenizer: {summary['pieces']} pieces of {summary['requested_pieces']} asked for; "
        f"learned from {summary['bytes_used']} of {summary['bytes_seen']} bytes; "
        f"{train['tokens_per_word']:.3f} tokens per word, {train['unk_fraction']:.4%} unk on train"
    )


if __name__ == "__main__":
    run_stage("train_tokenizer", main)
