"""`elman doctor` says that a machine is right, and loudly that it is not."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from elman import cli_doctor
from elman.cli import app, main
from elman.diagnostics.check import Check
from elman.layers.gru import GRU
from elman.layers.kernels.gru import GRU_KERNEL
from elman.models import encoder

FACTS = {"passed", "seconds", "machine", "store", "checks"}


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of the command."""
    monkeypatch.setattr(sys, "argv", ["elman", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a tracking store."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_store_that_is_not_right_fails_the_doctor_with_its_own_exit_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(monkeypatch, "doctor", "--store") == 0
    assert "no tracking store here yet" in capsys.readouterr().out
    assert list(folder.iterdir()) == []
    (folder / "mlruns").mkdir()
    (folder / "mlruns" / "mlflow.db").write_bytes(b"no database at all" * 100)
    assert run_main(monkeypatch, "doctor", "--store", "--json") == 50
    printed = capsys.readouterr()
    assert json.loads(printed.out)["passed"] is False
    assert f"{folder / 'mlruns' / 'mlflow.db'} is damaged" in printed.err


def test_a_right_machine_passes_every_check_within_a_minute() -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert set(report) == FACTS
    assert report["passed"] is True
    assert report["store"]["problems"] == []
    names = [check["name"] for check in report["checks"]]
    for cell in encoder.CELLS:
        for direction in ("forwards", "backwards"):
            for what in ("outputs and states", "gradients"):
                assert f"{cell} {direction}, CPU kernel against generic loop: {what}" in names
        assert f"{cell}: two short trainings with one seed" in names
        assert f"{cell}, CPU kernel: three pieces with carried state against the whole" in names
    assert "lstm: forget bias 1 after build" in names
    assert "language model: softmax and loss against log-softmax" in names
    assert all(check["difference"] <= check["tolerance"] for check in report["checks"])
    assert report["machine"]["versions"]["tensorflow"]
    assert report["machine"]["processors_usable"] >= 1
    assert report["machine"]["memory_bytes"] > 2**28


def test_a_gradient_that_is_wrong_by_a_thousandth_fails_loudly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def backward(*arguments: Any) -> np.ndarray:
        d_bias = GRU_KERNEL.backward(*arguments)
        d_bias[0, 4] += 1e-3
        return d_bias

    monkeypatch.setattr(GRU, "cell_kernel", dataclasses.replace(GRU_KERNEL, backward=backward))
    monkeypatch.setattr("elman.diagnostics.kernel_check.CELLS", {"gru": GRU})
    monkeypatch.setattr(cli_doctor, "_check_repeats", lambda *, gpu: iter(()))
    assert run_main(monkeypatch, "doctor") == 35
    printed = capsys.readouterr()
    assert "FAILED" in printed.out
    assert "2 of 9 checks failed: gru forwards, CPU kernel against generic loop: gradients" in printed.err
    assert "most in bias" in printed.err
    assert "ok" in printed.out.split("gru forwards, CPU kernel against generic loop: outputs")[0]


def test_json_of_a_failed_check_is_one_object_and_the_exit_code_tells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checks = [Check("right", True, 0.0, 1e-5, "a"), Check("wrong", False, float("inf"), 1e-5, "most in bias")]
    monkeypatch.setattr(cli_doctor, "run_checks", lambda *, gpu: iter(checks))
    assert run_main(monkeypatch, "doctor", "--json") == 35
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report["passed"] is False
    assert [check["passed"] for check in report["checks"]] == [True, False]
    assert report["checks"][1]["difference"] is None
    assert "1 of 2 checks failed: wrong (most in bias)" in printed.err


def test_trainings_that_differ_in_one_bit_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(np.arange(6, dtype="float32") * 1e-7)

    def weights(cell: str, *, seed: int) -> list[np.ndarray]:
        return [np.full(3, next(drawn), "float32")]

    monkeypatch.setattr("elman.training.repeat.weights_of_short_training", weights)
    checks = list(cli_doctor._check_repeats(gpu=False))
    assert [check.passed for check in checks] == [False] * 3
    assert all("hashes of the weights" in check.detail for check in checks)
