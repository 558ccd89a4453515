import json
import sqlite3
from pathlib import Path

import pytest
from mlflow.tracking import MlflowClient
from typer.testing import CliRunner

from elman.cli import app
from elman.config import load_params
from elman.errors import ArtifactError, ConfigError
from elman.tracking.store import store_uri
from tests.helpers.encoded_project import write_encoded_project

runner = CliRunner()


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    write_encoded_project(tmp_path)
    return tmp_path


def search(*arguments: str):
    done = runner.invoke(app, ["search", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.slow
def test_a_search_trains_writes_a_preset_records_its_trials_and_is_gone_on_with(project):
    assert not (project / "data" / "encoded" / "test.parquet").exists(), "test is not read"
    done = search("classifier", "simple_rnn", "--trials", "2")
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[1:3]] == ["1/2 trial 0", "2/2 trial 1"]
    assert "notes, classifier simple_rnn: the best of 2 trials" in done.stdout
    preset = project / "presets" / "notes-classifier-simple_rnn-search.yaml"
    assert f"cp {preset.relative_to(project)} params.yaml" in done.stdout
    assert load_params(preset).tuning.classifier["simple_rnn"].trials == 2

    again = search("classifier", "simple_rnn", "--trials", "3", "--json", "--out", "found.yaml")
    result = json.loads(again.stdout)
    assert result["trials"] == 3
    assert "goes on after 2 of 3 trials" in again.stderr
    best = result["best"][0]
    params = load_params(project / "found.yaml")
    assert params.classifier_cells["simple_rnn"] == best["settings"]
    assert params.tuning.classifier["simple_rnn"].trials == 3

    client = MlflowClient(store_uri(project))
    runs = client.search_runs([client.get_experiment_by_name("notes classifier").experiment_id])
    assert sorted(run.info.run_name for run in runs) == ["search simple_rnn", "trial 0", "trial 1", "trial 2"]
    assert {run.info.status for run in runs} == {"FINISHED"}
    losses = {run.data.metrics["valid/best_loss"] for run in runs if run.info.run_name.startswith("trial")}
    assert min(losses) == best["valid_loss"]
    assert not any(name.startswith("test/") for run in runs for name in run.data.metrics)


@pytest.mark.slow
def test_a_language_model_is_tuned_with_its_embedding_as_wide_as_its_units(project):
    result = json.loads(search("language_model", "simple_rnn", "--trials", "2", "--json").stdout)
    assert result["preset"] == "presets/notes-language_model-simple_rnn-search.yaml"
    for row in result["best"]:
        assert row["settings"]["embedding_dim"] == row["settings"]["units"]
        assert row["measures"]["valid/perplexity"] > 1.0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["clasifier", "gru"], r"'clasifier': no such task; did you mean classifier\?"),
        (["classifier", "gro"], r"'gro': no such cell; did you mean gru\? It can be: simple_rnn, lstm, gru"),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_are_known(project, arguments, part):
    with pytest.raises(ConfigError, match=part):
        search(*arguments)


def test_a_task_that_the_data_is_not_used_for_is_refused(project):
    text = (project / "params.yaml").read_text()
    (project / "params.yaml").write_text(text.replace("tasks: [classifier, language_model]", "tasks: [language_model]"))
    with pytest.raises(ConfigError, match=r"It can be: language_model \(dataset\.tasks\)"):
        search("classifier", "gru")


def test_fewer_trials_than_one_are_refused(project):
    done = runner.invoke(app, ["search", "classifier", "gru", "--trials", "0"])
    assert done.exit_code == 2
    assert "--trials" in done.stderr


def test_without_encoded_data_nothing_is_made_and_the_stage_to_run_is_named(project):
    (project / "data" / "encoded" / "valid.parquet").unlink()
    with pytest.raises(ArtifactError, match=r"data/encoded/valid\.parquet: no such file; run `dvc repro encode` first"):
        search("classifier", "gru")
    assert not (project / "search").exists()


def test_a_damaged_storage_is_one_clear_error_with_its_own_exit_code(project):
    (project / "search").mkdir()
    (project / "search" / "notes-classifier-gru.db").write_bytes(b"half of a file" * 200)
    with pytest.raises(
        ArtifactError, match=r"search/notes-classifier-gru\.db: cannot be used as the storage"
    ) as caught:
        search("classifier", "gru")
    assert caught.value.exit_code == 32


def test_a_storage_is_a_file_that_other_tools_can_read(project):
    search("classifier", "simple_rnn", "--trials", "1")
    with sqlite3.connect(project / "search" / "notes-classifier-simple_rnn.db") as file:
        assert file.execute("select count(*) from trials where state = 'COMPLETE'").fetchone() == (1,)
    file.close()
