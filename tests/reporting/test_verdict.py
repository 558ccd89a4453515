from pathlib import Path

import numpy as np
import pytest

from elman.reporting.comparing.pairs import compare_systems
from elman.reporting.comparing.system import read_system
from elman.reporting.measures import DRAWN
from elman.reporting.verdict import CAUTION, verdict
from tests.helpers.reports import measure
from tests.helpers.scores import classifier_scores, language_model_scores, write_scores

SEEDS = (1, 2, 3)


def comparison(folder: Path, task: str, scores: dict[str, dict], *, baseline: str | None = None) -> dict:
    """A comparison of made-up systems, with the pairs that the real tests give."""
    key = DRAWN[task][0].key
    systems = []
    for name, columns in scores.items():
        seeds = SEEDS if np.ndim(columns["nll_nats"]) == 2 else (1,)
        systems.append(read_system(write_scores(folder / name, columns, seeds=seeds, metrics=False), name=name))
    result = compare_systems(systems, resamples=300)
    rows = []
    for system in result["systems"]:
        values = {
            **measure(list(system["by_seed"].values())),
            "documents": {"low": system["low"], "high": system["high"]},
        }
        kind = "baseline" if system["name"] == baseline else "cell"
        seeds = {"seeds": [int(seed) for seed in system["by_seed"]]} if kind == "cell" else {}
        rows.append({"name": system["name"], "kind": kind, **seeds, "measures": {key: values}})
    return {"task": task, "rows": rows, "pairs": result["pairs"]}


def right(share: float, *, seed: int, seeds: int = 3, documents: int = 600) -> dict:
    random = np.random.default_rng(seed)
    found = random.random((seeds, documents)) < share
    return classifier_scores(found if seeds > 1 else found[0])


def nats(mean: float, *, seed: int, spread: float = 0.02) -> dict:
    random = np.random.default_rng(seed)
    base = np.random.default_rng(0).normal(0, 0.5, 400)
    return language_model_scores(mean + base + random.normal(0, spread, (3, 400)))


def test_no_difference_is_claimed_where_the_tests_find_none(tmp_path: Path) -> None:
    text = verdict(comparison(tmp_path, "classifier", {"lstm": right(0.950, seed=1), "gru": right(0.952, seed=2)}))
    assert text[0].startswith(("GRU has the highest mean accuracy of the cells: 0.9", "LSTM has the highest"))
    assert "over 3 seeds" in text[0]
    assert "over documents" in text[0]
    assert text[1].startswith("These data do not tell it from ")
    assert "would have been found four times in five" in text[1]
    assert not any("better" in sentence for sentence in text)


def test_better_needs_documents_and_seeds_and_says_both(tmp_path: Path) -> None:
    cells = {"simple_rnn": right(0.80, seed=1), "gru": right(0.96, seed=2)}
    text = verdict(comparison(tmp_path, "classifier", cells))
    assert text[1].startswith("It is better than SimpleRNN (difference 0.1")
    assert "p < 0.001 over documents and " in text[1]
    assert "over seeds)" in text[1]


def test_cells_near_and_far_are_told_apart(tmp_path: Path) -> None:
    cells = {"simple_rnn": right(0.8, seed=1), "lstm": right(0.95, seed=2), "gru": right(0.955, seed=3)}
    text = " ".join(verdict(comparison(tmp_path, "classifier", cells)))
    assert "It is better than SimpleRNN (" in text
    assert "These data do not tell it from LSTM (" in text


def test_a_difference_that_other_seeds_could_reverse_is_called_so(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    shares = {"lstm": np.full((3, 1), 0.83), "gru": np.array([[0.75], [0.97], [0.93]])}
    cells = {name: classifier_scores(random.random((3, 2000)) < share) for name, share in shares.items()}
    text = verdict(comparison(tmp_path, "classifier", cells))
    assert text[1].startswith("Its trained models are better than those of LSTM (")
    assert "other seeds could reverse that" in text[1]


def test_with_one_seed_the_reader_is_told_what_that_leaves_open(tmp_path: Path) -> None:
    cells = {"lstm": right(0.7, seed=1, seeds=1), "gru": right(0.96, seed=2, seeds=1)}
    text = verdict(comparison(tmp_path, "classifier", cells))
    assert ", from one seed (95 % intervals: over documents " in text[0]
    assert text[1].startswith("It is better on these documents than LSTM (")
    assert text[1].endswith("one seed says nothing about other trainings.")


def test_bits_per_byte_decide_for_a_language_model(tmp_path: Path) -> None:
    cells = {"lstm": nats(4.0, seed=1), "gru": nats(3.6, seed=2)}
    text = verdict(comparison(tmp_path, "language_model", cells))
    assert text[0].startswith("GRU has the lowest mean bits per byte of the cells: ")
    assert text[1].startswith("It is better than LSTM (")


@pytest.mark.parametrize(
    ("share", "start"),
    [
        (0.80, "It is better on these documents than the strongest baseline, TF-IDF + LR (0."),
        (0.96, "These data do not tell it from the strongest baseline, TF-IDF + LR (0."),
        (0.995, "GRU is worse than the strongest baseline, TF-IDF + LR (0."),
    ],
)
def test_the_strongest_baseline_is_faced(tmp_path: Path, share: float, start: str) -> None:
    scores = {"tfidf": right(share, seed=5, seeds=1), "gru": right(0.957, seed=3)}
    text = verdict(comparison(tmp_path, "classifier", scores, baseline="tfidf"))
    assert text[1].startswith(start)


def test_a_baseline_without_scores_by_document_is_compared_by_its_mean_only(tmp_path: Path) -> None:
    found = comparison(tmp_path, "classifier", {"lstm": right(0.95, seed=1), "gru": right(0.952, seed=2)})
    found["rows"].insert(0, {"name": "majority", "kind": "baseline", "measures": {"accuracy": {"mean": 0.5}}})
    text = verdict(found)
    assert (
        "Its mean is better than that of the strongest baseline, Majority class (0.5000); documents were not compared."
        in text
    )


def test_a_single_cell_is_not_ranked(tmp_path: Path) -> None:
    found = comparison(tmp_path, "classifier", {"lstm": right(0.95, seed=1), "gru": right(0.952, seed=2)})
    alone = {**found, "rows": found["rows"][1:], "pairs": []}
    assert verdict(alone)[0].startswith("GRU has the mean accuracy: 0.9")
    assert len(verdict(alone)) == 1


def test_a_cell_without_a_finite_value_is_named_and_the_others_are_compared(tmp_path: Path) -> None:
    found = comparison(tmp_path, "language_model", {"lstm": nats(4.0, seed=1), "gru": nats(3.6, seed=2)})
    broken = {"name": "simple_rnn", "kind": "cell", "seeds": [1], "measures": {"bits_per_byte": measure([None])}}
    found["rows"].append(broken)
    text = verdict(found)
    assert text[0] == "SimpleRNN gave no finite bits per byte."
    assert text[1].startswith("GRU has the lowest mean")


def test_when_nothing_is_finite_that_is_all_that_is_said() -> None:
    row = {"name": "lstm", "kind": "cell", "seeds": [1], "measures": {"bits_per_byte": measure([None])}}
    found = {"task": "language_model", "rows": [row], "pairs": []}
    assert verdict(found) == ["LSTM gave no finite bits per byte."]


def test_identical_cells_are_said_to_be_so_and_the_reader_is_told_what_p_is_about(tmp_path: Path) -> None:
    same = right(0.9, seed=4)
    text = verdict(comparison(tmp_path, "classifier", {"lstm": same, "gru": same}))
    assert text[1].startswith("It scores every document as does ")
    assert text[-1] == CAUTION
