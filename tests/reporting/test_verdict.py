import pytest

from elman.reporting.verdict import CAUTION, verdict
from tests.helpers.reports import measure


def _comparison(values: dict[str, list[float | None]], *, task: str = "classifier", bar: float | None = 0.5):
    key = "accuracy" if task == "classifier" else "perplexity"
    rows = [{"name": "majority", "kind": "baseline", "measures": {key: {"mean": bar}}}] if bar is not None else []
    for name, seeds in values.items():
        rows.append({"name": name, "kind": "cell", "seeds": list(range(len(seeds))), "measures": {key: measure(seeds)}})
    return {"task": task, "rows": rows}


def test_no_difference_is_claimed_where_intervals_overlap() -> None:
    text = verdict(_comparison({"lstm": [0.95, 0.96, 0.97], "gru": [0.96, 0.97, 0.975]}))
    assert text[0] == "GRU has the highest mean accuracy: 0.9683 (95 % interval over 3 seeds 0.9494 to 0.9873)."
    assert text[1] == ("Its interval overlaps that of LSTM: these seeds do not show a difference between the two.")
    assert not any("wholly" in sentence for sentence in text)


def test_intervals_apart_are_said_to_be_apart_and_no_more() -> None:
    text = verdict(_comparison({"simple_rnn": [0.90, 0.901, 0.902], "gru": [0.96, 0.961, 0.962]}))
    assert text[1] == "Its interval lies wholly above that of SimpleRNN."
    assert not any("better" in sentence or "significant" in sentence for sentence in text)


def test_cells_near_and_far_are_told_apart() -> None:
    values = {"simple_rnn": [0.90, 0.901, 0.902], "lstm": [0.96, 0.961, 0.963], "gru": [0.96, 0.962, 0.963]}
    text = verdict(_comparison(values))
    assert text[1].startswith("Its interval overlaps that of LSTM")
    assert text[2] == "Its interval also lies wholly above that of SimpleRNN."


def test_a_lower_perplexity_leads() -> None:
    values = {"lstm": [110.0, 111.0, 112.0], "gru": [90.0, 91.0, 92.0]}
    text = verdict(_comparison(values, task="language_model", bar=600.0))
    assert text[0].startswith("GRU has the lowest mean perplexity per token: 91.0 ")
    assert text[1] == "Its interval lies wholly below that of LSTM."
    assert text[2] == "Every cell's interval lies below the strongest baseline (Majority class, 600.0)."


def test_with_one_seed_no_order_is_claimed() -> None:
    text = verdict(_comparison({"lstm": [0.95], "gru": [0.96]}))
    assert text == [
        "GRU has the highest mean accuracy: 0.9600, from one seed.",
        "Without an interval for every cell nothing is said about their order: another seed could reverse it.",
        "Every cell's value lies above the strongest baseline (Majority class, 0.5000).",
    ]


def test_a_cell_whose_interval_holds_the_baseline_is_not_shown_to_be_better() -> None:
    text = verdict(_comparison({"simple_rnn": [0.45, 0.50, 0.58], "gru": [0.96, 0.961, 0.962]}))
    assert "SimpleRNN is not shown to be better than the strongest baseline (Majority class, 0.5000)." in text


def test_where_no_cell_is_beyond_the_strongest_baseline_that_is_said() -> None:
    comparison = _comparison({"lstm": [0.95, 0.955, 0.957], "gru": [0.96, 0.961, 0.962]})
    strong = {"name": "tfidf", "kind": "baseline", "measures": {"accuracy": {"mean": 0.9703}}}
    comparison["rows"].insert(1, strong)
    text = verdict(comparison)
    assert "No cell's interval lies above the strongest baseline (TF-IDF + LR, 0.9703)." in text
    assert not any("Majority" in sentence for sentence in text)


def test_the_strongest_baseline_of_a_language_model_is_the_one_with_the_lowest_perplexity() -> None:
    comparison = _comparison({"gru": [90.0, 91.0, 92.0]}, task="language_model", bar=600.0)
    strong = {"name": "kneser_ney", "kind": "baseline", "measures": {"perplexity": {"mean": 80.0}}}
    comparison["rows"].insert(1, strong)
    assert "GRU is not shown to be better than the strongest baseline (Kneser-Ney, 80.0)." in verdict(comparison)


def test_a_single_cell_is_not_ranked() -> None:
    text = verdict(_comparison({"gru": [0.96, 0.961, 0.962]}))
    assert text[0].startswith("GRU has the mean accuracy: 0.9610 (")
    assert text[1:] == ["Its interval lies above the strongest baseline (Majority class, 0.5000).", CAUTION]


def test_a_cell_without_a_finite_value_is_named_and_the_others_are_compared() -> None:
    values = {"simple_rnn": [None, 3.0, 2.0], "lstm": [110.0, 111.0, 112.0]}
    text = verdict(_comparison(values, task="language_model", bar=None))
    assert text[0] == "SimpleRNN gave no finite perplexity per token."
    assert text[1].startswith("LSTM has the mean perplexity per token: 111.0")


def test_when_nothing_is_finite_that_is_all_that_is_said() -> None:
    assert verdict(_comparison({"lstm": [None]}, task="language_model")) == [
        "LSTM gave no finite perplexity per token."
    ]


@pytest.mark.parametrize("task", ["classifier", "language_model"])
def test_the_reader_is_told_what_an_interval_over_seeds_is_silent_on(task: str) -> None:
    assert verdict(_comparison({"gru": [0.1, 0.2, 0.3]}, task=task))[-1] == CAUTION
