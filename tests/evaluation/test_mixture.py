import math
from pathlib import Path

import numpy as np
import pytest

from elman.artifacts import read_json, read_table
from elman.evaluation.language_model import scored
from elman.evaluation.mixture import write_mixture
from elman.metrics.mixture import best_weight
from elman.metrics.score_columns import LANGUAGE_MODEL_SCORES
from tests.helpers.documents import random_documents

SPLITS = {"valid": random_documents([30, 1, 44], seed=1), "test": random_documents([20, 55, 3], seed=2)}
SEEDS = [4, 7]


def made(kneser_ney_is_worse_by: float = 0.0):
    """Two seeds' evaluations and the baseline's log probabilities, which agree in part."""
    random = np.random.default_rng(6)
    shared = {name: random.gamma(2.0, 1.5, split.num_tokens) for name, split in SPLITS.items()}
    found = {
        name: [scored(nats + random.gamma(1.0, 1.0, len(nats)), SPLITS[name]) for _ in SEEDS]
        for name, nats in shared.items()
    }
    logs = {name: -nats - random.gamma(1.0, 1.0, len(nats)) - kneser_ney_is_worse_by for name, nats in shared.items()}
    return found, logs


def written(folder: Path, found, logs):
    return write_mixture(folder, cell="gru", seeds=SEEDS, found=found, kneser_ney=logs, splits=SPLITS)


def test_each_seed_has_the_weight_that_validation_chose_and_test_is_mixed_with_it(tmp_path: Path) -> None:
    found, logs = made()
    mixture = written(tmp_path, found, logs)
    assert mixture == read_json(tmp_path / "mixture.json")
    weights = [best_weight(-one.token_nll_nats, logs["valid"]) for one in found["valid"]]
    assert mixture["weight"]["per_seed"] == weights
    assert weights[0] != weights[1]
    for index, weight in enumerate(weights):
        p = np.exp(-found["test"][index].token_nll_nats)
        nats = -np.log(weight * p + (1 - weight) * np.exp(logs["test"]))
        assert mixture["measures"]["nll_nats_per_token"]["per_seed"][index] == pytest.approx(nats.mean(), rel=1e-12)
    assert mixture["measures"]["perplexity"]["low"] < mixture["measures"]["perplexity"]["mean"]


def test_on_validation_the_mixture_is_better_than_both_of_its_parts(tmp_path: Path) -> None:
    found, logs = made()
    mixed = written(tmp_path, found, logs)["valid_measures"]["nll_nats_per_token"]["per_seed"]
    for nats, one in zip(mixed, found["valid"], strict=True):
        assert nats < min(one.token_nll_nats.mean(), -logs["valid"].mean())


def test_a_baseline_that_is_worse_at_every_token_leaves_the_network_as_it_was(tmp_path: Path) -> None:
    found, logs = made(kneser_ney_is_worse_by=50.0)
    mixture = written(tmp_path, found, logs)
    assert mixture["weight"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "per_seed": [1.0, 1.0]}
    expected = [one.measures["perplexity"] for one in found["test"]]
    assert mixture["measures"]["perplexity"]["per_seed"] == expected


def test_the_scores_by_document_have_a_cells_columns_and_add_up_to_the_measures(tmp_path: Path) -> None:
    mixture = written(tmp_path, *made())
    table = read_table(tmp_path / "mixture" / "scores.parquet")
    assert table.schema.equals(LANGUAGE_MODEL_SCORES)
    assert table["seed"].to_pylist() == [4, 4, 4, 7, 7, 7]
    by_seed = table["nll_nats"].to_numpy().reshape(2, 3).sum(axis=1)
    bits = by_seed / math.log(2) / sum(table["num_bytes"].to_pylist()[:3])
    assert mixture["measures"]["bits_per_byte"]["per_seed"] == pytest.approx(bits.tolist(), rel=1e-12)
