from pathlib import Path

import pytest

from elman.artifacts import read_json, write_json
from elman.errors import ArtifactError
from elman.reporting.comparison import build_comparison, read_comparison
from elman.reporting.rows import baselines, mixtures, trained

CELLS = ["simple_rnn", "lstm", "gru"]


def _build(reports: Path, task: str = "classifier", cells: list[str] = CELLS):
    return build_comparison(reports=reports, task=task, cells=cells, dataset="reuters-r8")


def test_the_baseline_comes_first_and_then_the_cells_in_the_order_asked(reports: Path) -> None:
    comparison = _build(reports, cells=["gru", "simple_rnn"])
    assert [(row["name"], row["kind"]) for row in comparison["rows"]] == [
        ("majority", "baseline"),
        ("gru", "cell"),
        ("simple_rnn", "cell"),
    ]


def test_mixtures_follow_the_cells_and_are_taken_for_neither_cells_nor_baselines(reports: Path) -> None:
    comparison = _build(reports, "language_model", cells=["gru", "lstm"])
    names = {"unigram": "baseline", "gru": "cell", "lstm": "cell"}
    assert {row["name"]: row["kind"] for row in comparison["rows"]} == names | {
        "gru+kneser_ney": "mixture",
        "lstm+kneser_ney": "mixture",
    }
    assert [row["name"] for row in comparison["rows"]][:3] == list(names)
    assert [row["name"] for row in trained(comparison)] == ["gru", "lstm"]
    assert [row["name"] for row in baselines(comparison)] == ["unigram"]
    mixture = read_json(reports / "language_model" / "cells" / "lstm" / "mixture.json")
    row = mixtures(comparison)[1]
    for key in ("cell", "baseline", "seeds", "weight"):
        assert row[key] == mixture[key]
    assert row["measures"]["perplexity"]["per_seed"] == mixture["measures"]["perplexity"]["per_seed"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "no such file; run `dvc repro`"),
        ({"version": 2}, "version 1 is read here, 2 came"),
        ({"weight": None}, "lacks weight"),
        ({"measures": {}}, "the measure perplexity lacks mean, low, high, per_seed"),
        ({"cell": "lstm"}, "holds lstm, but stands where gru belongs"),
    ],
)
def test_a_mixture_that_is_missing_or_not_whole_is_refused_by_name(reports: Path, change, message: str) -> None:
    path = reports / "language_model" / "cells" / "gru" / "mixture.json"
    if change is None:
        path.unlink()
    else:
        write_json(path, {**read_json(path), **change})
    with pytest.raises(ArtifactError, match=rf"gru/mixture\.json: {message}"):
        _build(reports, "language_model")


@pytest.mark.parametrize("task", ["classifier", "language_model"])
def test_the_form_is_the_one_that_readers_rely_on(reports: Path, task: str) -> None:
    comparison = _build(reports, task)
    assert {key: comparison[key] for key in ("version", "task", "dataset", "commit")} == {
        "version": 2,
        "task": task,
        "dataset": "reuters-r8",
        "commit": None,
    }
    metrics = read_json(reports / task / "cells" / "lstm" / "metrics.json")
    row = comparison["rows"][2]
    for key in ("parameters", "seeds", "train_seconds", "tokens_per_second", "train_tokens", "epochs"):
        assert row[key] == metrics[key]
    for name, measured in metrics["measures"].items():
        assert {key: row["measures"][name][key] for key in measured} == measured
    assert "tuning" not in row


def test_what_is_known_of_the_tuning_is_kept(reports: Path) -> None:
    path = reports / "classifier" / "cells" / "lstm" / "metrics.json"
    write_json(path, {**read_json(path), "tuning": {"trials": 12}})
    assert _build(reports)["rows"][2]["tuning"] == {"trials": 12}


def test_a_missing_report_names_its_file_and_the_command(reports: Path) -> None:
    (reports / "classifier" / "cells" / "gru" / "metrics.json").unlink()
    with pytest.raises(ArtifactError, match=r"gru/metrics\.json: no such file; run `dvc repro`"):
        _build(reports)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 1 is read here, 2 came"),
        ({"measures": None}, "lacks measures"),
        ({"measures": {}}, "the measure accuracy lacks mean, low, high, per_seed"),
        ({"cell": "lstm"}, "holds classifier and lstm, but stands where classifier and gru belong"),
        ({"seeds": None, "parameters": None}, "lacks seeds, parameters"),
    ],
)
def test_a_report_that_is_not_whole_is_refused_by_name(reports: Path, change: dict, message: str) -> None:
    path = reports / "classifier" / "cells" / "gru" / "metrics.json"
    write_json(path, {**read_json(path), **change})
    with pytest.raises(ArtifactError, match=rf"gru/metrics\.json: {message}.*dvc repro"):
        _build(reports)


@pytest.mark.parametrize("text", ["", '{"version": 1, "rows": [', "[]", '{"version": 1, "rows": NaN}'])
def test_a_half_written_baseline_is_refused_by_name(reports: Path, text: str) -> None:
    (reports / "classifier" / "baseline.json").write_text(text)
    with pytest.raises(ArtifactError, match=r"baseline\.json: .*dvc repro"):
        _build(reports)


def test_a_comparison_that_was_not_made_yet_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"comparison\.json: no such file; run `dvc repro`"):
        read_comparison(tmp_path, "classifier")
