"""Encodes the prepared splits as ids."""

from pathlib import Path

from elman.config import load_params
from elman.data.encoding import encode_splits
from elman.data.splits import SPLITS
from elman.stages import run_stage


def main() -> None:
    """Runs the stage with what params.yaml says."""
    params = load_params(Path("params.yaml"))
    summary = encode_splits(
        prepared=Path("data/prepared"),
        tokenizer_folder=Path("models/tokenizer"),
        output=Path("data/encoded"),
        max_length=params.classifier.max_length,
        threads=params.compute.threads,
    )
    for split in SPLITS:
        counts = summary[split]
        print(
            f"{split}: {counts['documents']} documents, {counts['tokens']} tokens; "
            f"{counts['cut_documents']} documents are longer than {summary['max_length']}"
        )


if __name__ == "__main__":
    run_stage("encode", main)
