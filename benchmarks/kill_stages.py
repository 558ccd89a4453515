"""Kills each stage of the pipeline again and again, and compares what is left: `python -m benchmarks.kill_stages`.

Two copies of the project on the same small data. One runs undisturbed. In the other each stage is killed with SIGKILL,
together with DVC and all that it started, at seeded random moments of the time that it took in the first, and started
again as `make demo` and `elman retrain` do it (half-written files of DVC's own are mended first), until it ends by
itself. Afterwards metrics and weights must be equal, no temporary file may be left, git must see no change but
dvc.lock, and the tracking store may hold no run that reads RUNNING. Writes benchmarks/kill_stages.json. Takes about 20
minutes; exits with 1 where something differs.
"""

import argparse
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.saved_weights import saved_weights
from elman.artifacts import sha256_file, write_json
from elman.dvc_files import mend_dvc_files
from elman.seeding import generator
from tests.helpers.project import Project

# Saved after each step, so that a kill within an epoch goes on within it.
COMPUTE = {"deterministic": True, "threads": 1, "checkpoint_minutes": 0}
TIMES = re.compile(r"seconds|per_second|run_id|time|^\.commit$")  # what two copies may differ in


def main() -> None:
    """Runs both copies and compares them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill_stages", description=__doc__)
    parser.add_argument("--kills", type=int, default=10, help="of each stage")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stages", nargs="*", help="only those; default: all")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "kill_stages.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        undisturbed, killed = (_project(Path(folder) / name) for name in ("undisturbed", "killed"))
        rows, few = [], []
        for stage in _stages(undisturbed):
            seconds = _run(undisturbed, stage)
            disturbed = not arguments.stages or stage in arguments.stages
            moments = generator(arguments.seed, stage).uniform(0.0, seconds, 5 * arguments.kills)
            wanted = arguments.kills if disturbed else 0
            rows.append({"stage": stage, "seconds": round(seconds, 1), **_kill(killed, stage, moments, wanted)})
            print(rows[-1], flush=True)
            few += [f"{stage}: only {rows[-1]['kills']} kills of {wanted}"] if rows[-1]["kills"] < wanted else []
        problems = few + _problems(undisturbed, killed)
    total = sum(row["kills"] for row in rows)
    write_json(
        arguments.out, {"version": 1, "seed": arguments.seed, "kills": total, "stages": rows, "problems": problems}
    )
    print("\n".join(problems) or f"{total} kills in {len(rows)} stages: nothing differs, nothing is left")
    sys.exit(bool(problems))


def _project(root: Path) -> Project:
    root.mkdir()
    project = Project(root)
    project.change_params({"compute": COMPUTE})
    project.run(["git", "commit", "-qam", "deterministic"])
    return project


def _stages(project: Project) -> list[str]:
    names = project.run(["dvc", "stage", "list", "--name-only"]).stdout.split()
    return [name for name in names if ":" not in name]


def _command(stage: str) -> list[str]:
    return ["dvc", "--wait-for-lock", "repro", "--single-item", stage]


def _run(project: Project, stage: str) -> float:
    started = time.perf_counter()
    project.run(_command(stage))
    return time.perf_counter() - started


def _kill(project: Project, stage: str, moments: Any, wanted: int) -> dict[str, int]:
    """Starts the stage and kills it at the next moment, `wanted` times, then lets it end; how often it was too late."""
    kills = ended = mended = 0
    for moment in moments:
        if kills == wanted:
            break
        mended += len(mend_dvc_files(project.root))
        force = ["--force"] if ended else []  # what has ended is begun again, so that there is something to kill
        log = project.root.parent / "killed.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [*_command(stage), *force],
                cwd=project.root,
                env=project.environment(),
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            code = process.wait(timeout=float(moment))
            ended += 1
            if code:
                raise SystemExit(f"{stage} failed with code {code} after {kills} kills:\n{log.read_text()}")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
    mended += len(mend_dvc_files(project.root))
    project.run(_command(stage))
    return {"kills": kills, "ended_before_the_moment": ended, "mended_dvc_files": mended}


def _problems(undisturbed: Project, killed: Project) -> list[str]:
    found = _differences(undisturbed.root, killed.root)
    left = [path for path in killed.root.rglob(".*") if re.fullmatch(r"\..+\.\w{8}(\.\w+)?", path.name)]
    left += [path for path in (killed.root / "checkpoints").rglob("*") if path.is_file()]
    found += [f"left over: {path.relative_to(killed.root)}" for path in left if ".git" not in path.parts]
    status = killed.run(["git", "status", "--porcelain"]).stdout.splitlines()
    found += [f"git status: {line}" for line in status if line.split()[-1] not in ("dvc.lock", "data/dvc.lock")]
    with sqlite3.connect(killed.root / "mlruns" / "mlflow.db") as store:
        running = store.execute("select name from runs where status = 'RUNNING'").fetchall()
    return found + [f"reads RUNNING: {name}" for (name,) in running]


def _differences(one: Path, other: Path) -> list[str]:
    found = []
    for pattern in ("reports/*/cells/*/metrics.json", "reports/*/comparison.json", "reports/*/baseline.json"):
        for path in sorted(one.glob(pattern)):
            name = path.relative_to(one)
            ours, theirs = (_flat(json.loads((root / name).read_text())) for root in (one, other))
            found += [f"{name}: {key}: {ours.get(key)} and {theirs.get(key)}" for key in sorted(ours | theirs)
                      if not TIMES.search(key) and ours.get(key) != theirs.get(key)]  # fmt: skip
    for path in sorted([*one.glob("models/*/*/seed-*/model.keras"), *one.glob("models/tokenizer/*.model")]):
        name = path.relative_to(one)
        found += [] if _content(path) == _content(other / name) else [f"{name}: other weights"]
    for path in sorted([*one.glob("data/prepared/*.parquet"), *one.glob("data/encoded/*.parquet")]):
        name = path.relative_to(one)
        found += [] if sha256_file(path) == sha256_file(other / name) else [f"{name}: other content"]
    return found


def _content(path: Path) -> Any:
    """What a file holds apart from its times: the weights of a model, else the bytes."""
    if path.suffix != ".keras":
        return path.read_bytes()
    return {name: values.tobytes() for name, values in saved_weights(path).items()}


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        parts = {f"{prefix}.{key}": part for key, part in value.items()}
    elif isinstance(value, list):
        parts = {f"{prefix}[{index}]": part for index, part in enumerate(value)}
    else:
        return {prefix: value}
    return {name: leaf for key, part in parts.items() for name, leaf in _flat(part, key).items()}


if __name__ == "__main__":
    main()
