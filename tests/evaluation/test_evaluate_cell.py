"""The evaluate stage on a small language model: its files fit together, and its run gets the numbers."""

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from elman.artifacts import TableWriter, read_json, read_table, write_json
from elman.baselines.language_model import kneser_ney_row
from elman.config import load_params
from elman.data.sequences import ENCODED_SCHEMA
from elman.data.tables import PREPARED_SCHEMA
from elman.errors import ArtifactError
from elman.evaluation.evaluate_cell import evaluate_cell
from elman.evaluation.inputs import Inputs
from elman.models.spec import ModelSpec
from elman.models.store import build_model, save_model
from tests.helpers.documents import random_documents

SEEDS = [1, 2]
VOCAB = 20


class Runs:
    """Notes what would be recorded."""

    def __init__(self) -> None:
        self.measures: dict[str, dict] = {}

    def has_run(self, run_id: str) -> bool:
        return True

    @contextmanager
    def resume(self, run_id: str):
        self._run = self.measures.setdefault(run_id, {})
        yield self

    def log_measures(self, split: str, measures) -> None:
        self._run.update({f"{split}/{name}": values for name, values in measures.items()})

    def log_artifact(self, path: Path, folder: str | None = None) -> None:
        assert (path / "mixture.json").is_file()


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    for seed, split in enumerate(("train", "valid", "test")):
        documents = random_documents(np.random.default_rng(seed).integers(2, 30, 12), vocab_size=VOCAB, seed=seed)
        ids = [part.tolist() for part in np.split(documents.token_ids, documents.offsets[1:-1])]
        with TableWriter(tmp_path / "encoded" / f"{split}.parquet", ENCODED_SCHEMA) as writer:
            writer.write({"id": documents.ids, "token_ids": ids, "label": documents.labels,
                          "num_words": documents.num_words, "num_bytes": documents.num_bytes})  # fmt: skip
        with TableWriter(tmp_path / "prepared" / f"{split}.parquet", PREPARED_SCHEMA) as writer:
            writer.write({"id": documents.ids, "text": [f"text {i}" for i in documents.ids], "label": [None] * 12,
                          "source": ["x.txt"] * 12, "source_row": documents.ids})  # fmt: skip
    kneser_ney_row(tmp_path / "encoded", VOCAB, out=tmp_path / "baselines" / "kneser_ney")
    for seed in SEEDS:
        spec = ModelSpec(
            task="language_model", cell="gru", vocab_size=VOCAB, embedding_dim=4, units=4, num_layers=1, seed=seed
        )
        save_model(build_model(spec), tmp_path / "models" / f"seed-{seed}")
        write_json(tmp_path / "models" / f"seed-{seed}" / "history.json", [{"train/loss": 3.0, "valid/loss": 3.0}])
    cost = {"train_seconds": 1.0, "tokens_per_second": 100.0, "epochs": 1, "train_tokens": 150}
    summary = {"seeds": SEEDS, "parameters": 400, "per_seed": {str(seed): cost for seed in SEEDS}}
    write_json(tmp_path / "models" / "summary.json", summary)
    write_json(tmp_path / "models" / "run.json", {"parent_run_id": "p", "runs": {"1": "one", "2": "two"}})
    return Inputs(
        models=tmp_path / "models",
        encoded=tmp_path / "encoded",
        prepared=tmp_path / "prepared",
        baselines=tmp_path / "baselines",
        out=tmp_path / "out",
    )


def evaluated(inputs: Inputs, runs: Runs):
    params = load_params(Path(__file__).parents[2] / "params.yaml")
    return evaluate_cell(params=params, task="language_model", cell="gru", inputs=inputs, runs=runs)


def test_measures_scores_mixture_and_surprise_speak_of_the_same_tokens(inputs: Inputs) -> None:
    runs = Runs()
    metrics = evaluated(inputs, runs)
    mixture, surprise = (read_json(inputs.out / name) for name in ("mixture.json", "surprise.json"))
    tokens = metrics["measures"]["num_tokens"]["mean"]
    assert mixture["measures"].keys() == metrics["measures"].keys()
    assert mixture["measures"]["num_tokens"]["mean"] == surprise["num_tokens"] == tokens
    mean = metrics["measures"]["nll_nats_per_token"]["mean"]
    assert surprise["nll_nats"] / tokens == pytest.approx(mean, rel=1e-9)
    own, mixed = (read_table(inputs.out / name) for name in ("scores.parquet", "mixture/scores.parquet"))
    assert own.drop_columns(["nll_nats"]).equals(mixed.drop_columns(["nll_nats"]))
    assert runs.measures["p"]["test/perplexity"] == metrics["measures"]["perplexity"]
    assert runs.measures["p"]["test/mixture_perplexity"] == mixture["measures"]["perplexity"]
    assert runs.measures["p"]["test/mixture_weight"] == mixture["weight"]
    assert "test/mixture_perplexity" not in runs.measures["one"]


def test_without_the_baselines_tokens_nothing_is_scored(inputs: Inputs) -> None:
    (inputs.baselines / "kneser_ney" / "tokens.parquet").unlink()
    with pytest.raises(ArtifactError, match=r"tokens\.parquet: no such file.*dvc repro baseline"):
        evaluated(inputs, Runs())
    assert not inputs.out.exists()
