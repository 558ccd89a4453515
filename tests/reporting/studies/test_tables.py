from elman.reporting.studies.tables import study_tables


def spread(*values: float) -> dict:
    return {"mean": sum(values) / len(values), "min": min(values), "max": max(values), "per_seed": list(values)}


def regression_result(study: str = "adding") -> dict:
    row = {
        "name": "lstm",
        "title": "LSTM",
        "seconds": 12.3,
        "measures": {"mse": spread(0.002, 0.012), "mse_long": spread(0.5, 1.5)},
        "seeds": [{"seed": 1, "curve": [[1, 0.2], [2, 0.002]]}, {"seed": 2, "curve": [[1, 0.3], [2, 0.012]]}],
    }
    return {
        "study": study,
        "settings": {"length": 100, "long_length": 300, "steps": 1500, "batch_size": 32, "units": 32, "solved": 0.01},
        "baseline": {"title": "predicts the mean", "measures": {"mse": 0.1661, "mse_long": 0.1672}},
        "rows": [row],
    }


def agreement_result() -> dict:
    return {
        "study": "agreement",
        "settings": {"trained_attractors": 1, "tested_attractors": 2},
        "baselines": [
            {"title": "last noun", "accuracy": {"random": [1.0, 0.52, 0.49], "opposite": [1.0, 0.0, 0.0]}},
            {"title": "most of the nouns", "accuracy": {"random": [1.0, 0.75, 0.7], "opposite": [1.0, 0.5, 0.0]}},
        ],
        "rows": [
            {
                "name": "gru",
                "title": "GRU",
                "seeds": [{"seed": 1}],
                "accuracy": {name: [spread(1.0, 0.9), spread(0.8), spread(0.7)] for name in ("random", "opposite")},
            }
        ],
    }


def gates_result(**half_life: object) -> dict:
    life = {"median": 6.218, "low_quartile": 1.5, "high_quartile": None, "below_one_token": 0.25} | half_life
    row = {
        "title": "model, layer 1",
        "units": 2,
        "tokens": 3,
        "keeping": "forget",
        "gates": {"forget": {"mean": 0.5, "shut": 0.25, "open": 0.125}},
        "half_life": life,
        "saturated_outputs": 0.031,
        "dead_units": [1],
        "flags": ["dead: the output of 1 of 2 units hardly changes over the text"],
        "picture": {"forget": [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]},
    }
    return {"study": "gates", "tokens": ["<s>", "▁the", "$x"], "rows": [row]}


def gradient_flow_result(*, trained: bool) -> dict:
    sizes = [{"mean": 1e-3, "min": 1e-4, "max": 1e-2}, {"mean": 3e-9, "min": 0.0, "max": 1e-8}]
    own = {"title": "trained LSTM", "cell": "lstm", "state": "c", "distances": [10, 50], "size": sizes, "places": 4}
    return {
        "study": "gradient-flow",
        "settings": {"seeds": [1, 2], "lengths": [10], "distances": [10, 50]},
        "rotation": {
            "steps": [1, 5],
            "sizes": {"0.9": [0.76786, 0.09889]},
            "curves": {"0.9": [0.77, 0.5, 0.3, 0.2, 0.1]},
        },
        "rows": [
            {"name": "gru", "title": "GRU", "gradient_norm": {"10": spread(0.011, 0.013)}, "jacobian": {"h": sizes}}
        ],
        "trained": [own] if trained else [],
    }


def test_a_sequence_study_shows_mean_minimum_maximum_and_how_many_seeds_solved_it():
    lines = study_tables(regression_result()).splitlines()
    cells = [cell.strip() for cell in next(line for line in lines if "| LSTM" in line).strip("|").split("|")]
    assert cells == ["LSTM", "0.007 (0.002 to 0.012)", "1 (0.5 to 1.5)", "1 of 2", "12"]
    assert [cell.strip() for cell in lines[-1].strip("|").split("|")][:3] == ["predicts the mean", "0.17", "0.17"]


def test_the_columns_of_a_table_stand_below_each_other():
    lines = [line for line in study_tables(regression_result()).splitlines() if line.startswith("|")]
    places = {tuple(place for place, sign in enumerate(line) if sign == "|") for line in lines}
    assert len(places) == 1


def test_agreement_has_a_table_for_each_kind_of_attractors_with_the_baselines():
    random, opposite = study_tables(agreement_result()).split("\n\nAttractors of the number")
    assert "| GRU               | 95.0 (90.0 to 100.0) |" in random
    assert "52.0" in random
    assert "| last noun         |                100.0 |                 0.0 |" in opposite


def test_gates_tells_half_lives_and_flags():
    text = study_tables(gates_result())
    assert "median 6.22 tokens, quartiles 1.5 to without end; below one token: 25.0% of the units" in text
    assert "Flags: dead: the output of 1 of 2 units" in text
    assert "| forget | 0.500 |     25.0% |     12.5% |" in text


def test_gradient_flow_shows_a_trained_model_only_where_there_is_one():
    assert "trained LSTM, c" in study_tables(gradient_flow_result(trained=True))
    without = study_tables(gradient_flow_result(trained=False))
    assert "trained" not in without
    assert "| g = 0.9 | 0.7679 | 0.0989 |" in without
