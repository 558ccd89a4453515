"""The files in docs/schedules are valid, call what there is, and take no good exit code for a failure."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.helpers.stage_deps import ROOT

FOLDER = ROOT / "docs" / "schedules"
GOOD = (0, 10, 11, 20)
BAD = (1, 30, 40, 50)
UNITS = sorted(path.name for path in FOLDER.iterdir() if path.suffix in (".service", ".timer"))


def lines(name: str) -> list[str]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.endswith("\n"), "cron ignores a last line without an end"
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def yaml(name: str) -> list[dict[str, Any]]:
    return list(YAML(typ="safe").load_all((FOLDER / name).read_text(encoding="utf-8")))


@pytest.fixture
def elman(tmp_path: Path) -> Path:
    """A checkout with a stand-in for `elman`, which ends with the code in the file `code`."""
    command = tmp_path / "srv" / ".venv" / "bin" / "elman"
    command.parent.mkdir(parents=True)
    command.write_text(
        '#!/bin/sh\necho "$@" >>"$(dirname "$0")/../../calls"\nexit "$(cat "$(dirname "$0")/../../code")"\n'
    )
    command.chmod(0o755)
    return tmp_path / "srv"


def ranges(field: str, low: int, high: int) -> bool:
    """Whether a field of a cron line is one that cron takes."""
    for part in field.split(","):
        span, _, step = part.partition("/")
        ends = [low, high] if span == "*" else [int(end) for end in span.split("-")]
        if not (low <= ends[0] <= ends[-1] <= high and len(ends) <= 2 and (not step or int(step) > 0)):
            return False
    return True


def assert_is_schedule(fields: list[str]) -> None:
    limits = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
    assert len(fields) == 5
    assert all(ranges(field, *limit) for field, limit in zip(fields, limits, strict=True)), fields


def test_the_crontab_has_five_fields_and_a_command_a_line() -> None:
    settings = [line for line in lines("elman.crontab") if re.match(r"[A-Z]+=", line)]
    jobs = [line for line in lines("elman.crontab") if line not in settings]
    assert any(line.startswith("PATH=/srv/elman/.venv/bin:") for line in settings)
    assert len(jobs) == 2
    for job in jobs:
        *fields, command = job.split(None, 5)
        assert_is_schedule(fields)
        assert not re.search(r"(?<!\\)%", command), "cron takes a bare % for the end of the line"
    assert "elman retrain --json" in jobs[0]
    assert "elman status" in jobs[1]
    if shutil.which("crontab"):
        done = subprocess.run(
            ["crontab", "-T", str(FOLDER / "elman.crontab")], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or "invalid option" in done.stderr, done.stderr


@pytest.mark.parametrize("code", [*GOOD, *BAD])
def test_cron_mails_only_what_failed_and_the_log_has_all(elman: Path, code: int) -> None:
    (elman / "code").write_text(str(code))
    job = next(line for line in lines("elman.crontab") if "retrain" in line).split(None, 5)[5]
    job = job.replace("docs/schedules/quiet.sh", str(FOLDER / "quiet.sh")).replace("/srv/elman", str(elman))
    environment = {"PATH": f"{elman}/.venv/bin:/usr/bin:/bin"}
    done = subprocess.run(["/bin/sh", "-c", job], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == (0 if code in GOOD else code)
    assert (done.stdout == "") == (code in GOOD)
    if code in BAD:
        assert f"elman retrain --json ended with exit code {code}" in done.stdout
    [log] = (elman / "mlruns" / "logs").iterdir()
    assert f"elman retrain --json  exit code {code}" in log.read_text()
    assert (elman / "calls").read_text() == "retrain --json\n"


def test_a_stopped_cron_job_stops_its_command(tmp_path: Path) -> None:
    command = ["sh", str(FOLDER / "quiet.sh"), "0", "sleep", "100"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=10)
    assert process.returncode == 143
    assert "sleep 100 ended with exit code 143" in output


def unit(name: str) -> dict[str, list[str]]:
    """The settings of a unit's file."""
    found: dict[str, list[str]] = {}
    for line in lines(name):
        if not line.startswith("["):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_accepts_the_units(elman: Path) -> None:
    folder = elman / "units"
    folder.mkdir()
    for name in UNITS:
        text = (FOLDER / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace("/srv/elman", str(elman)))
    (folder / "elman-alarm@x.service").symlink_to("elman-alarm@.service")
    checked = [str(folder / name) for name in (*UNITS, "elman-alarm@x.service") if name != "elman-alarm@.service"]
    command = ["systemd-analyze", "verify", "--man=no", *checked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    about_ours = [line for line in done.stderr.splitlines() if "elman" in line]
    assert (done.returncode, about_ours) == (0, [])


def test_systemd_takes_no_good_exit_code_for_a_failure_and_says_so_of_the_others() -> None:
    service = unit("elman-retrain.service")
    assert {0, *map(int, service["SuccessExitStatus"][0].split())} == set(GOOD)
    assert service["ExecStart"] == ["/srv/elman/.venv/bin/elman retrain --json"]
    assert unit("elman-status.service")["ExecStart"] == ["/srv/elman/.venv/bin/elman status"]
    for name in ("elman-retrain", "elman-status"):
        assert unit(f"{name}.service")["OnFailure"] == ["elman-alarm@%n.service"]
        assert unit(f"{name}.timer")["Persistent"] == ["true"]
    assert int(service["TimeoutStopSec"][0]) > 30


def run_script(script: str, elman: Path, code: int, *, shell: str) -> int:
    (elman / "code").write_text(str(code))
    environment = {"PATH": f"{elman}/.venv/bin:/usr/bin:/bin", "FORCE": ""}
    # bash -e -o pipefail is how GitHub starts it
    flags = ["-e", "-o", "pipefail"] if shell == "bash" else []
    return subprocess.run(
        [shell, *flags, "-c", script], cwd=elman, env=environment, check=False, stdout=subprocess.DEVNULL
    ).returncode


def test_the_schedule_of_github_runs_one_job_at_a_time_and_fails_on_failures_only(elman: Path) -> None:
    [workflow] = yaml("github-actions.yml")
    assert set(workflow) <= {"name", "on", "permissions", "concurrency", "env", "defaults", "jobs"}
    assert_is_schedule(workflow["on"]["schedule"][0]["cron"].split())
    assert workflow["concurrency"]["cancel-in-progress"] is False
    [job] = workflow["jobs"].values()
    assert set(job) <= {"runs-on", "timeout-minutes", "defaults", "env", "steps"}
    assert all(set(step) <= {"name", "if", "env", "run", "uses", "with"} for step in job["steps"])
    retrain, status = (step["run"] for step in job["steps"])
    for code in (*GOOD, *BAD):
        assert run_script(retrain, elman, code, shell="bash") == (0 if code in GOOD else code)
    assert status == ".venv/bin/elman status"


CONTAINER = {"name", "image", "workingDir", "command", "args", "env", "resources", "securityContext", "volumeMounts"}


def test_the_jobs_of_kubernetes_have_the_form_of_batch_v1_and_fail_on_failures_only(elman: Path) -> None:
    jobs = {job["metadata"]["name"]: job for job in yaml("kubernetes-cronjob.yaml")}
    assert set(jobs) == {"elman-retrain", "elman-status"}
    for job in jobs.values():
        assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
        spec = job["spec"]
        assert_is_schedule(spec["schedule"].split())
        assert spec["concurrencyPolicy"] == "Forbid"
        assert spec["jobTemplate"]["spec"]["backoffLimit"] == 0
        pod = spec["jobTemplate"]["spec"]["template"]["spec"]
        assert pod["restartPolicy"] == "Never"
        [container] = pod["containers"]
        assert set(container) <= CONTAINER
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        assert all({"name"} < set(variable) <= {"name", "value", "valueFrom"} for variable in container["env"])
    container = jobs["elman-retrain"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["sh", "-c"]
    for code in (*GOOD, *BAD):
        assert run_script(container["args"][0], elman, code, shell="sh") == (0 if code in GOOD else code)


def test_the_page_names_every_file_of_the_folder() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w.@-]+)\)", page))
    assert linked == {path.name for path in FOLDER.iterdir()} - {"README.md"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cron") is None or os.geteuid() != 0, reason="needs cron and root")
def test_cron_itself_runs_a_schedule_of_one_minute_and_the_log_has_it(elman: Path) -> None:
    (elman / "code").write_text("10")
    job = f'* * * * * root cd {elman} && sh {FOLDER / "quiet.sh"} "0 10 11 20" elman retrain --json\n'
    schedule = Path("/etc/cron.d") / f"elman-test-{os.getpid()}"
    schedule.write_text(f"SHELL=/bin/sh\nPATH={elman}/.venv/bin:/usr/bin:/bin\n{job}")
    own = subprocess.Popen(["cron", "-f"], stderr=subprocess.DEVNULL)  # ends at once where cron runs already
    try:
        for _ in range(130):
            if (elman / "calls").is_file() and list((elman / "mlruns" / "logs").glob("*.log")):
                break
            time.sleep(1)
        time.sleep(1)
        assert (elman / "calls").read_text().startswith("retrain --json\n")
        [log] = (elman / "mlruns" / "logs").iterdir()
        assert "elman retrain --json  exit code 10" in log.read_text()
    finally:
        schedule.unlink()
        own.terminate()
        own.wait()
