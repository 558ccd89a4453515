"""Tasks side by side: with a stand-in for dvc that writes down how it was called, and with dvc itself."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pipelines.side_by_side import stages_of_tasks
from ruamel.yaml import YAML

SCRIPT = Path(__file__).resolve().parents[2] / "pipelines" / "side_by_side.py"

DVC = """#!{python}
import os, sys, time
arguments = sys.argv[1:]
if arguments[:2] == ["stage", "list"]:
    print("prepare", "encode", *("train@" + task + "-gru" for task in {tasks!r}), *("compare@" + t for t in {tasks!r}))
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
        [sys.executable, str(SCRIPT)],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
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
            assert any(
                call.startswith(f"--wait-for-lock repro --single-item train@{task}-gru compare@{task} on")
                for call in calls[1:]
            )
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


def test_tasks_of_which_one_waits_for_the_other_run_in_turn(tmp_path: Path) -> None:
    yaml = YAML()
    params = yaml.load((SCRIPT.parents[1] / "params.yaml").read_text(encoding="utf-8"))
    shape = {name: params["language_model"][name] for name in ("embedding_dim", "units", "num_layers")}
    params["classifier"] |= {**shape, "bidirectional": False, "pretrain": "language_model"}
    with (tmp_path / "params.yaml").open("w", encoding="utf-8") as stream:
        yaml.dump(params, stream)
    done, calls = run(tmp_path, tasks=["classifier", "language_model"], failing=[])
    assert done.returncode == 0, done.stderr
    assert [call.partition(" on ")[0] for call in calls] == ["repro encode", "repro"]


def test_stages_go_to_their_task_in_the_order_of_the_list() -> None:
    names = ["prepare", "encode", "train@lm-gru", "train@lm2-gru", "train@lm-lstm", "compare@lm", "compare@lm2"]
    assert stages_of_tasks(names) == {
        "lm": ["train@lm-gru", "train@lm-lstm", "compare@lm"],
        "lm2": ["train@lm2-gru", "compare@lm2"],
    }


def test_what_keeps_dvc_from_listing_its_stages_is_shown_and_is_a_failure(tmp_path: Path) -> None:
    tool = tmp_path / "dvc"
    tool.write_text(f"#!{sys.executable}\nraise SystemExit('dvc.yaml is invalid')\n", encoding="utf-8")
    tool.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "dvc.yaml is invalid\n"


def test_ctrl_c_ends_both_tasks_without_a_traceback(tmp_path: Path) -> None:
    tool = tmp_path / "dvc"
    tool.write_text(
        f"#!{sys.executable}\nimport sys, time\n"
        "if sys.argv[1] == 'stage':\n    print('encode compare@classifier compare@language_model')\n"
        "if sys.argv[1] == '--wait-for-lock':\n    print('begun', flush=True)\n    time.sleep(60)\n",
        encoding="utf-8",
    )
    tool.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs the tests in the background leaves them, and all that they start, deaf to this signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    assert process.stdout is not None
    assert {process.stdout.readline() for _ in range(2)} == {"[classifier] begun\n", "[language model] begun\n"}
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "side_by_side.py" not in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


PIPELINE = """
stages:
  encode:
    cmd: echo words > words
    outs: [words]
  train:
    matrix: {task: [classifier, language_model], cell: [gru]}
    cmd: "touch here_${item.task}; for i in $(seq 600); do
      [ -e here_classifier ] && [ -e here_language_model ] && exec cp words model_${item.task}; sleep 0.1; done; exit 9"
    deps: [words]
    outs: ["model_${item.task}"]
  compare:
    matrix: {task: [classifier, language_model]}
    cmd: "cat model_${item.task} words > report_${item.task}"
    deps: ["model_${item.task}", words]
    outs: ["report_${item.task}"]
"""


def test_dvc_lets_two_tasks_read_the_shared_files_at_the_same_time(tmp_path: Path) -> None:
    """Each training waits for the other one to have begun, and both read what a shared stage wrote."""
    (tmp_path / "dvc.yaml").write_text(PIPELINE, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def call(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call("dvc", "init", "-q", "--no-scm")
    call(sys.executable, str(SCRIPT))
    for task in ("classifier", "language_model"):
        assert (tmp_path / f"report_{task}").read_text(encoding="utf-8") == "words\nwords\n"
    assert "up to date" in call("dvc", "status")


SLOW = """
if "compare@slow" in arguments:
    time.sleep(1.5)
    print("then", len(os.sched_getaffinity(0)))
"""


def test_a_task_that_is_left_alone_gets_all_cores(tmp_path: Path) -> None:
    tool = tmp_path / "dvc"
    tool.write_text((DVC + SLOW).format(python=sys.executable, tasks=["quick", "slow"], failing=[]), encoding="utf-8")
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, str(SCRIPT)]
    done = subprocess.run(command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"[slow] then {len(os.sched_getaffinity(0))}" in done.stdout
