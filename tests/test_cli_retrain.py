"""`elman retrain` and `elman rollback` hand their options on, and end with the outcome's exit code."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from elman.cli import app
from elman.retraining import job, rollback
from elman.retraining.night import Options


def ending(seen: list[Any], code: int) -> Callable[..., Any]:
    """Stands in for a run: notes its arguments, and ends."""

    def run(root: Path, options: Options | None = None, **_: Any) -> Any:
        seen.append((root, options))
        return SimpleNamespace(result="not_promoted", message="the champion stays", exit_code=code, line=lambda: "{}")

    return run


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], Options(force=False, dry_run=False, accept_data=False)),
        (["--force"], Options(force=True, dry_run=False, accept_data=False)),
        (["--dry-run"], Options(force=False, dry_run=True, accept_data=False)),
        (["--accept-data"], Options(force=False, dry_run=False, accept_data=True)),
    ],
)
def test_options_of_retrain_reach_the_job(
    arguments: list[str], options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(job, "retrain", ending(seen, 10))
    done = CliRunner().invoke(app, ["retrain", *arguments])
    assert done.exit_code == 10
    assert done.stdout.splitlines() == ["not promoted: the champion stays", "{}"]
    assert seen == [(Path(), options)]


def test_rollback_ends_with_its_exit_code_and_one_line_of_json(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(rollback, "rollback", ending(seen, 50))
    done = CliRunner().invoke(app, ["rollback", "--json"])
    assert (done.exit_code, done.stdout) == (50, "{}\n")
    assert seen == [(Path(), None)]
