import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from elman.cli import app
from tests.helpers.stage_deps import ROOT

ELMAN = str(Path(sys.executable).parent / "elman")
runner = CliRunner()


def test_help_answers_within_a_second_without_tensorflow():
    code = "import sys; from elman.cli import app; assert not {'tensorflow', 'keras', 'mlflow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([ELMAN, "--help"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "check" in done.stdout
    assert "table" in done.stdout
    # Seconds of work and not of waiting, so that a busy machine does not fail the test.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0


@pytest.fixture
def project(tmp_path, monkeypatch):
    text = (ROOT / "params.yaml").read_text().replace("path: data/raw/reuters-r8 ", "path: notes.csv ")
    (tmp_path / "params.yaml").write_text(text)
    rows = [f"a note number {number} of the day,{'good' if number % 2 else 'bad'}" for number in range(40)]
    (tmp_path / "notes.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run([ELMAN, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_check_prints_the_params_in_force_and_what_the_data_shows(project):
    result = runner.invoke(app, ["check"])
    assert result.exit_code == 0, result.output
    assert "vocab_size: 2000" in result.output
    assert "notes.csv: csv" in result.output
    assert "bad 20, good 20" in result.output


def test_check_with_json_prints_one_object(project):
    result = runner.invoke(app, ["check", "--json"])
    found = json.loads(result.stdout)
    assert found["params"]["dataset"]["path"] == "notes.csv"
    assert found["data"]["labels"] == {"bad": 20, "good": 20}


def test_wrong_params_are_one_clear_message_and_exit_code_2(project):
    file = project / "params.yaml"
    file.write_text(file.read_text().replace("dropout: 0.3 ", "dropuot: 0.3 "))
    code, _, errors = run("check")
    assert code == 2
    assert "did you mean dropout?" in errors
    assert "Traceback" not in errors


def test_wrong_data_is_one_clear_message_and_exit_code_30(project):
    (project / "notes.csv").write_text("txt,label\nhello,good\n")
    code, _, errors = run("check")
    assert code == 30
    assert "text" in errors
    assert "Traceback" not in errors


def test_a_table_without_reports_says_what_to_run(project):
    code, _, errors = run("table")
    assert code == 32
    assert "dvc repro" in errors
