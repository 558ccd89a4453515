"""Trains the tokenizer on the train split, or takes the one that tokenizer.keep names."""

from pathlib import Path

from elman.config import load_params
from elman.data.tokenizer_training import keep_tokenizer, train_tokenizer
from elman.stages import run_stage


def main() -> None:
    """Runs the stage with what params.yaml says."""
    params = load_params(Path("params.yaml"))
    tokenizer = params.tokenizer
    folders = {"prepared": Path("data/prepared"), "output": Path("models/tokenizer")}
    measuring = {"seed": tokenizer.seed, "threads": params.compute.threads}
    if tokenizer.keep is not None:
        summary = keep_tokenizer(
            Path(tokenizer.keep), **folders, max_megabytes=tokenizer.max_training_megabytes, **measuring
        )
        learned = f"kept from {tokenizer.keep}"
    else:
        summary = train_tokenizer(
            **folders,
            model=tokenizer.model,
            vocab_size=tokenizer.vocab_size,
            character_coverage=tokenizer.character_coverage,
            byte_fallback=tokenizer.byte_fallback,
            normalization=tokenizer.normalization,
            max_training_megabytes=tokenizer.max_training_megabytes,
            **measuring,
        )
        learned = f"learned from {summary['bytes_used']} of {summary['bytes_seen']} bytes"
    train = summary["train"]
    print(
        f"{tokenizer.model} tokenizer: {summary['pieces']} pieces of {summary['requested_pieces']} asked for; "
        f"{learned}; {train['tokens_per_word']:.3f} tokens per word, {train['unk_fraction']:.4%} unk on train"
    )


if __name__ == "__main__":
    run_stage("train_tokenizer", main)
