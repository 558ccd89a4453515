import json

import pytest
from mlflow.tracking import MlflowClient
from typer.testing import CliRunner

from elman.cli import app
from elman.errors import ConfigError, DataError
from elman.tracking.store import store_uri
from tests.helpers.small_model import SENTENCES, write_model

runner = CliRunner()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)


def study(*arguments: str) -> dict:
    """Runs a study with --json; the result, which also stands in the file that it writes."""
    done = runner.invoke(app, ["study", *arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def check_files(result: dict, folder) -> None:
    assert json.loads((folder / f"{result['study']}.json").read_text()) == result
    assert (folder / f"{result['study']}.png").read_bytes().startswith(b"\x89PNG")


def test_gradient_flow_measures_cells_and_a_trained_model(tmp_path):
    model = write_model(tmp_path)
    (tmp_path / "text.txt").write_text(" ".join(SENTENCES * 3))
    options = ["--seeds", "2", "--cells", "simple_rnn,lstm", "--longest", "50"]
    options += ["--model", str(model), "--text", "text.txt"]
    result = study("gradient-flow", *options)
    check_files(result, tmp_path / "reports/studies")
    assert [row["name"] for row in result["rows"]] == ["simple_rnn", "lstm"]
    for row in result["rows"]:
        norms = [row["gradient_norm"][length]["mean"] for length in ("10", "50")]
        assert norms[0] > norms[1] > 0.0
        assert len(row["gradient_norm"]["10"]["per_seed"]) == 2
    assert [(row["cell"], row["state"]) for row in result["trained"]] == [("lstm", "h"), ("lstm", "c")]


def test_gradient_flow_needs_a_text_for_a_model():
    with pytest.raises(DataError, match="--model and --text"):
        runner.invoke(app, ["study", "gradient-flow", "--model", "models/x"], catch_exceptions=False)


def test_adding_compares_cells_with_the_mean_and_records_every_run(tmp_path):
    options = ["--seeds", "2", "--steps", "6", "--length", "8", "--cells", "gru,lstm_1997", "--out", "found"]
    result = study("adding", *options)
    check_files(result, tmp_path / "found")
    assert [row["name"] for row in result["rows"]] == ["gru", "lstm_1997"]
    assert result["baseline"]["measures"]["mse"] == pytest.approx(2 / 12, abs=0.01)
    client = MlflowClient(store_uri(tmp_path))
    runs = client.search_runs([client.get_experiment_by_name("study adding").experiment_id])
    assert [run.info.status for run in runs] == ["FINISHED"] * 6  # 2 cells, and 2 seeds of each
    recorded = {run.data.metrics["test/mse"] for run in runs if run.data.tags.get("cell") == "gru"}
    assert recorded == set(result["rows"][0]["measures"]["mse"]["per_seed"])


def test_reset_compares_cells_with_the_mean(tmp_path):
    options = ["--seeds", "1", "--steps", "4", "--length", "8", "--cells", "lstm_input_open,lstm_forget_bias_0"]
    result = study("reset", *options, "--no-track")
    check_files(result, tmp_path / "reports/studies")
    assert [row["title"] for row in result["rows"]] == ["LSTM, input gate open", "LSTM, forget bias 0"]
    assert result["baseline"]["measures"]["mse_long"] > result["baseline"]["measures"]["mse"] > 1 / 3
    assert not (tmp_path / "mlruns").exists()


def test_agreement_gives_accuracy_by_distance_for_cells_and_baselines(tmp_path):
    options = ["--seeds", "1", "--steps", "3", "--cells", "gru", "--trained", "1", "--tested", "2", "--no-track"]
    result = study("agreement", *options)
    check_files(result, tmp_path / "reports/studies")
    for numbers in ("random", "opposite"):
        assert len(result["rows"][0]["accuracy"][numbers]) == 3
    last, most = result["baselines"]
    assert last["accuracy"]["opposite"] == [1.0, 0.0, 0.0]
    assert most["accuracy"]["opposite"] == [1.0, 0.5, 0.0]
    assert not (tmp_path / "mlruns").exists()


@pytest.mark.parametrize("changes", [{}, {"cell": "gru", "num_layers": 2}, {"cell": "simple_rnn"}])
def test_gates_reads_a_text_with_a_model(tmp_path, changes):
    model = write_model(tmp_path, **changes)
    result = study("gates", str(model), SENTENCES[0], "--tokens", "12")
    check_files(result, tmp_path / "reports/studies")
    assert len(result["rows"]) == changes.get("num_layers", 1)
    assert result["tokens"][:4] == ["<s>", "▁", "t", "h"]
    assert result["rows"][0]["tokens"] == len(SENTENCES[0]) + 2
    assert all(len(picture) == 12 for row in result["rows"] for picture in row["picture"].values())


def test_gates_flags_a_model_whose_forget_gates_are_shut(tmp_path):
    result = study("gates", str(write_model(tmp_path, forget_bias=-6.0)), SENTENCES[1])
    assert any(flag.startswith("vanishing") for flag in result["rows"][0]["flags"])


def test_gates_takes_a_classifier_that_reads_both_ways(tmp_path):
    model = write_model(tmp_path, task="classifier", num_classes=3, bidirectional=True)
    result = study("gates", str(model), SENTENCES[2])
    assert result["rows"][0]["tokens"] == len(SENTENCES[2]) + 1  # no bos before a document


def test_gates_of_an_empty_text_are_refused(tmp_path):
    with pytest.raises(DataError, match="the text is empty"):
        runner.invoke(app, ["study", "gates", str(write_model(tmp_path)), ""], catch_exceptions=False)


def test_a_text_that_is_the_name_of_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"nwes\.txt: no such file"):
        runner.invoke(app, ["study", "gates", str(write_model(tmp_path)), "nwes.txt"], catch_exceptions=False)


def test_an_unknown_cell_is_refused_with_those_that_are_known():
    with pytest.raises(ConfigError, match=r"simple_rnn, lstm, gru.*got lstn"):
        runner.invoke(app, ["study", "reset", "--cells", "lstn", "--no-track"], catch_exceptions=False)
