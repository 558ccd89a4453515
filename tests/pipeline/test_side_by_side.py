"""Tasks side by side, with a stand-in for dvc that writes down how it was called."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "pipelines" / "side_by_side.py"

DVC = """#!{python}
import os, sys, time
arguments = sys.argv[1:]
if arguments[:2] == ["stage", "list"]:
    print("prepare\\nencode\\n" + "\\n".join("compare@" + task for task in {tasks!r}))
    raise SystemExit
with open("calls.txt", "a") as file:
    file.write(f"{{' '.join(arguments)}} on {{len(os.sched_getaffinity(0))}}\\n")
print("stage output of", arguments[-1])
if arguments[-1] in {failing!r}:
    raise SystemExit(7)
"""


def run(folder: Path, *, tasks: list[str], failing: list[str]) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    tool = folder / "dvc"
    tool.write_text(DVC.format(python=sys.executable, tasks=tasks, failing=failing), encoding="utf-8")
    tool.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    return done, (folder / "calls.txt").read_text(encoding="utf-8").splitlines()


def test_what_tasks_share_runs_first_and_then_each_task_on_cores_of_its_own(tmp_path: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    done, calls = run(tmp_path, tasks=["classifier", "language_model"], failing=[])
    assert done.returncode == 0, done.stderr
    assert calls[0] == f"repro encode on {cores}"
    assert len(calls) == 3
    if cores > 1:
        shares = {cores // 2, cores - cores // 2}
        for task in ("classifier", "language_model"):
            assert any(call.startswith(f"--wait-for-lock repro compare@{task} on") for call in calls[1:])
        assert {int(call.rsplit(" ", 1)[1]) for call in calls[1:]} == shares
    assert "[language model] stage output of compare@language_model" in done.stdout
    assert "[classifier] stage output of compare@classifier" in done.stdout


@pytest.mark.parametrize("failing", ["encode", "compare@classifier", "compare@language_model"])
def test_a_failure_anywhere_is_the_exit_code_of_the_whole(tmp_path: Path, failing: str) -> None:
    done, calls = run(tmp_path, tasks=["classifier", "language_model"], failing=[failing])
    assert done.returncode == 7
    assert len(calls) == (1 if failing == "encode" else 3)


def test_one_task_alone_gets_all_cores(tmp_path: Path) -> None:
    done, calls = run(tmp_path, tasks=["language_model"], failing=[])
    assert done.returncode == 0
    assert calls[1] == f"repro on {len(os.sched_getaffinity(0))}"
