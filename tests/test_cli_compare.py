import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from elman.artifacts import write_json
from elman.cli import app
from elman.errors import ArtifactError, DataError, ElmanError, MetricError
from elman.metrics.classification import macro_f1
from tests.helpers.scores import classifier_scores, language_model_scores, write_scores

SEEDS = (1, 2, 3)
runner = CliRunner()


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    random = np.random.default_rng(5)
    hard = random.random(400) < 0.1
    for cell, share in (("gru", 0.97), ("lstm", 0.971), ("simple_rnn", 0.8)):
        right = (random.random((3, 400)) < share) & ~hard
        write_scores(tmp_path / "classifier" / "cells" / cell, classifier_scores(right), seeds=SEEDS)
    base = random.normal(4.0, 0.5, size=400)
    for cell, worse in (("gru", 0.0), ("lstm", 0.0), ("simple_rnn", 0.1)):
        nats = base + worse + random.normal(0, 0.05, size=(3, 400))
        write_scores(tmp_path / "language_model" / "cells" / cell, language_model_scores(nats), seeds=SEEDS)
        mixed = language_model_scores(np.minimum(nats, base + 0.5) - 0.2)
        folder = write_scores(
            tmp_path / "language_model" / "cells" / cell / "mixture", mixed, seeds=SEEDS, metrics=False
        )
        write_json(folder.parent / "mixture.json", {"version": 1, "seeds": list(SEEDS)})
    kneser_ney = language_model_scores(base + 0.5)
    write_scores(tmp_path / "language_model" / "baselines" / "kneser_ney", kneser_ney, seeds=(0,), metrics=False)
    return tmp_path


def compared(reports: Path, *arguments: str, task: str = "classifier") -> dict:
    done = invoke(reports, *arguments, "--task", task, "--json")
    return json.loads(done)["tasks"][task]


def invoke(reports: Path, *arguments: str) -> str:
    done = runner.invoke(app, ["compare", *arguments, "--reports", str(reports), "--resamples", "300"])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_a_planted_difference_is_found_and_a_missing_one_is_not(reports: Path) -> None:
    for task in ("classifier", "language_model"):
        by_pair = {
            (p["first"], p["second"]): p for p in compared(reports, "gru", "lstm", "simple_rnn", task=task)["pairs"]
        }
        assert by_pair["gru", "lstm"]["verdict"].startswith("These documents do not tell gru and lstm apart")
        assert by_pair["gru", "simple_rnn"]["verdict"].startswith("gru is better than simple_rnn")
        assert by_pair["lstm", "simple_rnn"]["adjusted_p"] < 0.01


def test_without_a_task_both_are_compared_in_words(reports: Path) -> None:
    text = invoke(reports, "gru", "simple_rnn")
    assert "classifier, accuracy, 400 test documents" in text
    assert "language model, bits per byte, 400 test documents" in text
    assert "smallest detectable" in text


def test_a_baseline_and_a_folder_are_systems_too(reports: Path) -> None:
    folder = reports / "language_model" / "cells" / "gru"
    pair = compared(reports, str(folder), "kneser_ney", task="language_model")["pairs"][0]
    assert pair["over_seeds"]["p_value"] is None
    assert pair["verdict"].endswith("seeds were not tested.")


def test_identical_systems_have_no_difference_and_p_1(reports: Path) -> None:
    folder = reports / "classifier" / "cells" / "gru"
    for measure in ("accuracy", "macro_f1"):
        pair = compared(reports, "gru", str(folder), "--measure", measure)["pairs"][0]
        assert (pair["difference"], pair["low"], pair["high"], pair["p"]) == (0.0, 0.0, 0.0, 1.0)
        assert "no difference" in pair["verdict"]


def test_macro_f1_is_the_mean_over_seeds_of_the_reports_measure(reports: Path) -> None:
    import pyarrow.parquet as pq

    row = compared(reports, "gru", "lstm", "--measure", "macro_f1")["systems"][0]
    table = pq.read_table(reports / "classifier" / "cells" / "gru" / "scores.parquet").to_pandas()
    by_seed = {str(s): macro_f1(t["label"].to_numpy(), t["predicted"].to_numpy(), 4) for s, t in table.groupby("seed")}
    assert row["by_seed"] == pytest.approx(by_seed)
    assert row["value"] == pytest.approx(np.mean(list(by_seed.values())))


def test_with_one_seed_the_p_is_mcnemars(tmp_path: Path) -> None:
    right = np.arange(40) >= 4
    for cell, correct in (("a", np.ones(40, bool)), ("b", right)):
        write_scores(tmp_path / "classifier" / "cells" / cell, classifier_scores(correct))
    pair = compared(tmp_path, "a", "b")["pairs"][0]
    assert (pair["test"], pair["p"]) == ("McNemar", pytest.approx(0.125))


@pytest.mark.parametrize(("documents", "classes"), [(1, 1), (30, 1), (30, 4)])
def test_one_document_one_class_and_all_correct_have_an_answer(tmp_path: Path, documents: int, classes: int) -> None:
    for cell in ("a", "b"):
        scores = classifier_scores(np.ones((2, documents), bool), classes=classes)
        write_scores(tmp_path / "classifier" / "cells" / cell, scores, seeds=(1, 2))
    for measure in ("accuracy", "macro_f1"):
        result = compared(tmp_path, "a", "b", "--measure", measure)
        assert result["systems"][0]["value"] == 1.0
        assert result["pairs"][0]["p"] == 1.0


def test_two_tokenizers_are_compared_by_bytes_and_refused_by_tokens(reports: Path) -> None:
    other = language_model_scores(np.full(400, 4.0), tokens_a_word=3)
    write_scores(reports / "language_model" / "cells" / "pieces", other)
    assert compared(reports, "gru", "pieces", task="language_model")["measure"] == "bits_per_byte"
    with pytest.raises(MetricError, match=r"row 0 has num_tokens 10 in gru and 15 in pieces.*bits_per_byte"):
        invoke(reports, "gru", "pieces", "--measure", "perplexity")


def test_other_test_sets_are_refused_with_the_first_row_that_differs(reports: Path) -> None:
    scores = classifier_scores(np.ones(400, bool))
    scores["label"][7] = 0
    write_scores(reports / "classifier" / "cells" / "other", scores)
    with pytest.raises(DataError, match="row 7 has label 3 in gru and 0 in other"):
        invoke(reports, "gru", "other")
    write_scores(reports / "classifier" / "cells" / "short", classifier_scores(np.ones(9, bool)))
    with pytest.raises(DataError, match="400 documents and short on 9"):
        invoke(reports, "gru", "short")


def test_a_mixture_is_compared_with_its_parts_under_the_name_of_both(reports: Path) -> None:
    names = ("lstm+kneser_ney", "kneser_ney", "lstm")
    by_pair = {(p["first"], p["second"]): p for p in compared(reports, *names, task="language_model")["pairs"]}
    for other in names[1:]:
        assert by_pair[names[0], other]["verdict"].startswith(f"lstm+kneser_ney is better than {other}")
    assert by_pair["lstm+kneser_ney", "lstm"]["over_seeds"]["paired"]
    (reports / "language_model" / "cells" / "lstm" / "mixture.json").unlink()
    with pytest.raises(ArtifactError, match=r"lstm\+kneser_ney: .* was half written: no mixture\.json"):
        invoke(reports, *names)


def test_a_half_written_folder_is_refused(reports: Path) -> None:
    folder = reports / "classifier" / "cells" / "lstm"
    (folder / "metrics.json").unlink()
    with pytest.raises(ArtifactError, match=r"half written: no metrics\.json"):
        invoke(reports, "gru", "lstm", "--task", "classifier")
    (folder / "scores.parquet").unlink()
    with pytest.raises(ArtifactError, match=r"holds no scores\.parquet"):
        invoke(reports, "gru", "lstm", "--task", "classifier")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gru"], "two or more"),
        (["gru", "gru"], "each once"),
        (["gru", "lstn"], "nearest: lstm"),
        (["gru", "lstm", "--measure", "f2"], "compared by accuracy"),
        (["gru", "lstm", "--task", "tagger"], "language_model"),
        (["gru", "kneser_ney", "--task", "classifier"], "nearest"),
        (
            ["gru", "gru+kneser_ny"],
            r"no cell, baseline, mixture, folder, run id or experiment; nearest: gru\+kneser_ney",
        ),
        (["gru", "gru+kneser_ney", "--task", "classifier"], "nearest: gru;"),
        (["gru", "0" * 32], "no tracking store"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(
    reports: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(ElmanError, match=message):
        invoke(reports, *arguments)
