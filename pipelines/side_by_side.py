"""Runs the pipeline with the tasks side by side, each on its share of the cores: `python pipelines/side_by_side.py`.

`dvc repro` runs one stage at a time. A stage loads TensorFlow and compiles on one core; two tasks at once fill a few.
DVC still decides what runs. Where classifiers start from the language models, `dvc repro` runs the tasks in turn.
"""

import subprocess
import sys
from pathlib import Path

from elman.config import load_params
from elman.dvc_files import mend_dvc_files
from elman.side_by_side import run_side_by_side

BEFORE = "encode"  # what the tasks share
# Each stage by itself: DVC would go through the shared ones too, and refuses those whose files the other task reads.
REPRO = ("dvc", "--wait-for-lock", "repro", "--single-item")


def main() -> int:
    """Runs what the tasks share, then each task; returns the first exit code that is not 0."""
    for line in mend_dvc_files(Path()):
        print(line)
    listed = subprocess.run(["dvc", "stage", "list", "--name-only"], check=False, stdout=subprocess.PIPE, text=True)
    if listed.returncode:
        return listed.returncode  # DVC has said why
    tasks = stages_of_tasks(listed.stdout.split())
    code = subprocess.run(["dvc", "repro", BEFORE], check=False).returncode
    if code or len(tasks) < 2 or one_waits(Path("params.yaml")):
        return code or subprocess.run(["dvc", "repro"], check=False).returncode
    return run_side_by_side({task.replace("_", " "): [*REPRO, *stages] for task, stages in tasks.items()})


def one_waits(params: Path) -> bool:
    """Whether classifiers start from what the language models have learned."""
    return params.exists() and load_params(params).classifier.pretrain != "none"


def stages_of_tasks(names: list[str]) -> dict[str, list[str]]:
    """The stages of each task in the order of dvc.yaml, from all: `name`, `name@task` or `name@task-cell`."""
    tasks = [name.removeprefix("compare@") for name in names if name.startswith("compare@")]
    return {task: [name for name in names if f"{name}-".partition("@")[2].startswith(f"{task}-")] for task in tasks}


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
