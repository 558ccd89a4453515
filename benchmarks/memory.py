"""Peak memory of prepare, train_tokenizer and encode on a large text file: `python benchmarks/memory.py`.

Makes a text file (a document a line, open vocabulary), runs each stage in a process of its own in a folder of its own,
and writes seconds and peak resident memory as JSON. Ends with 1 if a stage needs more memory than allowed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]
STAGES = ("prepare", "train_tokenizer", "encode")
TYPES = 400_000  # different words; drawn by Zipf's law, so that rare ones go on appearing to the end


def words(random: np.random.Generator) -> list[str]:
    """Different made-up words of one to five syllables, short ones first as in a real language."""
    syllables = [c + v + e for c in "bcdfghjklmnprstvwz" for v in "aeiou" for e in ("", "n", "r", "s", "t", "l")]
    found: dict[str, None] = {}
    while len(found) < TYPES:
        count = 1 + min(4, int(np.log10(1 + len(found))) // 2 + int(random.integers(0, 3)))
        found["".join(syllables[i] for i in random.integers(0, len(syllables), count))] = None
    return list(found)


def lines(megabytes: int) -> Iterator[str]:
    """Documents of 20 to 300 words, until `megabytes` MB are made."""
    random = np.random.default_rng(7)
    types = words(random)
    weights = 1.0 / (2.7 + np.arange(TYPES))
    cumulative = np.cumsum(weights / weights.sum())
    left = megabytes * 1_000_000
    while left > 0:
        lengths = random.integers(20, 300, 500)
        drawn = np.searchsorted(cumulative[:-1], random.random(int(lengths.sum())))
        start = 0
        for length in lengths:
            line = " ".join([types[i] for i in drawn[start : start + length]]) + "."
            start += int(length)
            left -= len(line) + 1
            yield line
            if left <= 0:
                return


def write_params(folder: Path, data: Path, *, sample_megabytes: int | None) -> None:
    """The project's own params.yaml, with the file as its data set."""
    yaml = YAML()
    params = yaml.load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    changes = {"path": str(data), "tasks": ["language_model"], "format": "lines", "label_column": None}
    params["dataset"].update(changes)
    if sample_megabytes is not None:
        params["tokenizer"]["max_training_megabytes"] = sample_megabytes
    with (folder / "params.yaml").open("w", encoding="utf-8") as file:
        yaml.dump(params, file)


def run_stage(stage: str, folder: Path) -> dict[str, Any]:
    """Runs one stage script and asks the system for its peak memory."""
    started = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen([sys.executable, str(ROOT / "pipelines" / f"{stage}.py")], cwd=folder, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    scale = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes on macOS, KiB on Linux
    return {
        "stage": stage,
        "exit_code": process.returncode,
        "seconds": round(time.perf_counter() - started, 1),
        "peak_megabytes": round(usage.ru_maxrss * scale / 1e6),
    }


def main() -> int:
    """Runs the benchmark and prints one line a stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the text file")
    parser.add_argument("--limit", type=int, default=2000, help="MB of memory that a stage may need")
    parser.add_argument("--sample", type=int, help="tokenizer.max_training_megabytes; default: that of params.yaml")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "memory.json")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="elman-memory-") as name:
        folder = Path(name)
        data = folder / "text.txt"
        with data.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines(arguments.megabytes))
        write_params(folder, data, sample_megabytes=arguments.sample)
        for stage in STAGES:
            rows.append(run_stage(stage, folder))
            print(json.dumps(rows[-1]), flush=True)
            if rows[-1]["exit_code"] != 0:
                return 1
        size = data.stat().st_size
    result = {"version": 1, "text_bytes": size, "limit_megabytes": arguments.limit, "stages": rows}
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return int(any(row["peak_megabytes"] > arguments.limit for row in rows))


if __name__ == "__main__":
    sys.exit(main())
