"""Lists the language models that classifiers start from: `classifier.pretrain: language_model` needs it."""

from pathlib import Path

from elman.artifacts import write_json
from elman.stages import run_stage
from elman.training.weight_list import list_weights


def main() -> None:
    """Reads models/language_model, writes pipelines/start/classifier-from-language_model.json."""
    found = list_weights(Path("models/language_model"))
    write_json(Path("pipelines/start/classifier-from-language_model.json"), found)
    print(", ".join(f"{cell}: {len(seeds)} seeds" for cell, seeds in found["models"].items()))


if __name__ == "__main__":
    run_stage("list_weights", main)
